import { keyword } from "../../python/file.ts";
import { ancestors, blockOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { deleteStatement } from "../edits.ts";
import { assignsOfKind } from "../facts/assigns.ts";
import { selfAttribute } from "../facts/classes.ts";
import { everyUpdate } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { isThrottle } from "../facts/turns.ts";
import { last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule, Severity } from "../rule.ts";

const EMPTIES =
  /^torch\.(?:cuda|xpu|mps|npu|accelerator)(?:\.memory)?\.empty_cache$|^accelerate\.utils\.(?:memory\.)?(?:release_memory|clear_device_cache)$/;

export const rule: Rule = {
  meta: {
    code: "PLM031",
    name: "cache-emptied-in-step",
    summary: "The allocator's cache is emptied, or garbage collected, inside the training step or a forward",
    severity: "warning",
    fix: "unsafe",
    patterns: [31],
  },
  *check(facts) {
    yield* asked(facts);
    for (const call of facts.file.callsNamed(
      "empty_cache",
      "collect",
      "release_memory",
      "clear_device_cache",
    )) {
      const name = facts.file.dotted(call.func) ?? throughAccelerator(call, facts);
      if (name === null || !(EMPTIES.test(name) || name === "gc.collect")) continue;
      const hot = facts.hot(call);
      if (!hot) continue;
      const frequency = facts.frequency(call, hot.within);
      // After an out-of-memory error, or under a test we cannot read, it may be right.
      if (frequency === "unknown") continue;
      const inLoop = hot.within.kind !== "FunctionDef" && hot.within.kind !== "Lambda";
      // Every fourth layer of a forward is every step.
      const rare =
        frequency === "throttled" && !everyUpdate(call, facts) && (inLoop || loopsAround(call).length === 0);
      // Beside a validation or a save it marks the boundary of a phase; alone under its throttle it is a habit.
      if (rare && !standsAlone(call, facts)) continue;
      if (handsOver(call) || isAskedFor(call, facts) || isMeasured(call, hot.within, facts)) continue;
      const statement = statementOf(call);
      const what = `\`${name === "gc.collect" ? name : last(name)}()\``;
      yield {
        at: call,
        severity: rare || isAgain(call, facts) ? "note" : "warning",
        message: rare
          ? `${what} now and then in the training loop gains nothing: ${name === "gc.collect" ? "reference counts have freed all but cycles already" : "the peak stays, and freed blocks must be allocated again"}`
          : `${what} ${inLoop ? "on every step" : `in code that runs every step (${hot.why})`} ${name === "gc.collect" ? "goes through every Python object on the host, while the device is given nothing to do" : "stops the device and throws away blocks that the next step allocates again"}`,
        ...(statement?.kind === "ExprStmt" && statement.value === call
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Remove it",
                edits: deleteStatement(statement, facts.file),
              },
            }
          : {}),
      };
    }
  },
  *checkConfig(config) {
    for (const { value, valueAt } of config.named("torch_empty_cache_steps"))
      if (typeof value === "number") yield { at: valueAt, severity: severityOf(value), message: ASKED };
  },
};

/** The same above it, and nothing in between that allocates: a log, a picture of the step. */
function isAgain(call: Call, facts: Facts): boolean {
  const statement = statementOf(call);
  const block = (statement && blockOf(statement)) ?? [];
  const text = facts.file.textOf(call);
  for (const before of block.slice(0, statement ? block.indexOf(statement) : 0).reverse()) {
    if (before.kind === "ExprStmt" && facts.file.textOf(before) === text) return true;
    let allocates = false;
    walk(before, (node) => {
      if (node.kind === "Call")
        allocates ||=
          isNetwork(node.func, facts) ||
          /^(?:backward|step|to|cuda|zeros|ones|cat|stack|tensor)$/.test(lastWord(node.func));
      return !allocates;
    });
    if (allocates) return false;
  }
  return false;
}

/** `get_accelerator().empty_cache()` */
function throughAccelerator({ func }: Call, facts: Facts): string | null {
  return func.kind === "Attribute" &&
    func.attr === "empty_cache" &&
    func.value.kind === "Call" &&
    facts.file.textOf(func.value.func).endsWith("get_accelerator")
    ? "torch.accelerator.empty_cache"
    : null;
}

const ASKED =
  "`torch_empty_cache_steps` empties the cache inside training: the device stops, and the next step allocates the blocks again";

/** `TrainingArguments(torch_empty_cache_steps=1)`, `training_args.torch_empty_cache_steps = 1` */
function* asked({ file }: Facts): Generator<Finding> {
  for (const { targets, value } of file.mentions("torch_empty_cache_steps")
    ? assignsOfKind("Attribute", file)
    : [])
    for (const target of targets)
      if (
        target.kind === "Attribute" &&
        target.attr === "torch_empty_cache_steps" &&
        selfAttribute(target) === null &&
        value.kind === "Num"
      )
        yield { at: target, severity: severityOf(Number(value.text)), message: ASKED };
  for (const call of file.calls.given(["torch_empty_cache_steps"])) {
    const setting = keyword(call, "torch_empty_cache_steps")!;
    if (setting.value.kind === "Num")
      yield { at: setting, severity: severityOf(Number(setting.value.text)), message: ASKED };
  }
}

function severityOf(steps: number): Severity {
  return steps === 1 ? "warning" : "note";
}

function standsAlone(call: Node, facts: Facts): boolean {
  for (const at of ancestors(call)) {
    if (at.kind !== "If" || !isThrottle(at.test)) continue;
    if (isOnce(at.test)) return false;
    let alone = true;
    for (const statement of at.body)
      walk(statement, (node) => {
        if (node.kind === "Delete") alone = false;
        if (node.kind === "Call") {
          const name = facts.file.dotted(node.func) ?? "";
          if (!EMPTIES.test(name) && !/^gc\.collect$|is_available$|^builtins\.print$/.test(name))
            alone = false;
        }
        return alone;
      });
    return alone;
  }
  return false;
}

/** `step == 1 and epoch == 0`: in one turn of the whole training. */
const isOnce = (test: Expr): boolean =>
  test.kind === "Bool" &&
  test.op === "and" &&
  test.values.filter((one) => one.kind === "Compare" && one.ops[0] === "==" && one.rights[0]?.kind === "Num")
    .length > 1;

/** Beside the waking, sleeping or moving of another tenant of the card, which needs the memory itself. */
function handsOver(call: Node): boolean {
  const statement = statementOf(call);
  const block = (statement && blockOf(statement)) ?? [];
  let found = false;
  for (const other of block)
    walk(other, (node) => {
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        /^(?:wake_up|sleep|offload\w*|onload\w*|reload\w*)$/.test(node.func.attr)
      )
        found = true;
      return !found;
    });
  return found;
}

/** Before the memory is measured, which it makes comparable: not where that is done once an epoch or now and then, and this on every step. */
function isMeasured(call: Node, within: Node, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  return (
    /mem(?:ory)?_?tracker/i.test(file.codeOf(fn ?? file.tree.module)) ||
    file
      .callsNamed("reset_peak_memory_stats")
      .some(
        (one) =>
          functionOf(one) === fn &&
          (contains(within, one)
            ? facts.frequency(one, within) !== "throttled"
            : loopsAround(one).length === 0),
      )
  );
}

/** Under a setting that says just this: whoever sets it wants it. */
function isAskedFor(call: Node, facts: Facts): boolean {
  for (let child = call, at = call.parent; at; child = at, at = at.parent)
    if (
      at.kind === "If" &&
      child !== at.test &&
      /empty|cache|gc_|_gc|collect|memory|vram/i.test(facts.file.textOf(at.test))
    )
      return true;
  return false;
}
