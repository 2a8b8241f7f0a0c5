import { contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import { deleteStatement, indentAt } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM079",
    name: "clipped-every-micro-step",
    summary:
      "Gradients are clipped on every micro-step of an accumulation, or beside a driver that clips by itself",
    severity: "warning",
    fix: "unsafe",
    patterns: [79],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.callsNamed(
      "clip_grad_norm_",
      "clip_grad_norm",
      "clip_grad_value_",
      "clip_grad_value",
    )) {
      const name = file.dotted(call.func) ?? "";
      const torch = /^torch\.nn\.utils\.(?:clip_grad\.)?clip_grad_(?:norm|value)_?$/.test(name);
      const driver =
        name === "" &&
        call.func.kind === "Attribute" &&
        /^clip_grad_(?:norm|value)_$/.test(call.func.attr) &&
        /accelerator/i.test(file.textOf(call.func.value));
      if (!torch && !driver) continue;
      const [inner] = loopsAround(call);
      if (!inner) continue;
      if (torch && clipsByItself(inner, facts)) {
        yield {
          at: call,
          message:
            "DeepSpeed clips by its own setting, and its gradients are not in `.grad` when this looks: nothing is clipped here, or twice",
        };
        continue;
      }
      if (driver ? !isAccumulated(call, inner, facts) : !isMicroStep(call, inner, facts)) continue;
      const fix = torch ? beforeStep(call, inner, facts) : null;
      yield {
        at: call,
        message:
          "Half-summed gradients are clipped on every micro-step: the norm is computed many times, and the later batches count for more; clip once, before the step",
        ...(fix ? { fix } : {}),
      };
    }
  },
};

/** Every turn clips; the optimizer steps in some of them, or after this loop of micro-batches. */
function isMicroStep(call: Call, loop: Loop, facts: Facts): boolean {
  if (facts.frequency(call, loop) !== "every") return false;
  const inside = optimizerSteps(facts.file).filter((step) => contains(loop, step));
  if (inside.length > 0) return inside.every((step) => facts.frequency(step, loop) === "throttled");
  const outer = loopsAround(call)[1];
  return (
    outer !== undefined &&
    facts.backwards.some(({ call: backward }) => contains(loop, backward)) &&
    optimizerSteps(facts.file).some((step) => loopsAround(step)[0] === outer && step.start > loop.end)
  );
}

/** Under `accelerator.accumulate` gradients are whole only when `sync_gradients` says so. */
function isAccumulated(call: Call, loop: Loop, facts: Facts): boolean {
  const text = facts.file.textOf(loop);
  return (
    /\.accumulate\(/.test(text) &&
    facts.frequency(call, loop) === "every" &&
    /gradient_accumulation_steps/.test(facts.file.text)
  );
}

function clipsByItself(loop: Loop, facts: Facts): boolean {
  return (
    /deepspeed/.test(facts.file.text) &&
    facts.backwards.some(({ call }) => {
      if (!contains(loop, call) || call.func.kind !== "Attribute" || call.func.value.kind !== "Name")
        return false;
      return facts.file.scopes
        .reaching(call.func.value)
        .some(
          ({ value }) => value?.kind === "Call" && facts.file.dotted(value.func) === "deepspeed.initialize",
        );
    })
  );
}

/** The statement as it is, moved to right before the step. */
function beforeStep(call: Call, loop: Loop, facts: Facts): Fix | null {
  const { file } = facts;
  const statement = statementOf(call);
  const steps = optimizerSteps(file).filter(
    (step) => contains(loop, step) && functionOf(step) === functionOf(call),
  );
  const step = steps.length === 1 ? statementOf(steps[0]!) : null;
  if (statement?.kind !== "ExprStmt" || statement.value !== call || step?.kind !== "ExprStmt") return null;
  const start = file.lines.start(file.lines.line(step.start));
  const indent = indentAt(file, step.start);
  const text = file.textOf(statement);
  if (file.text.slice(start, step.start) !== indent || text.includes("\n") || step.start < statement.start)
    return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return {
    grade: "unsafe",
    title: "Clip once, before the step",
    edits: [
      ...deleteStatement(statement, file),
      { start: step.start, end: step.start, text: `${text}${ending}${indent}` },
    ],
  };
}
