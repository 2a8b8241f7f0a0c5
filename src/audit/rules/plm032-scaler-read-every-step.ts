import { importsFrom, isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments } from "../facts/arguments.ts";
import { everyUpdate } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

const LOOKS = "`error_if_nonfinite=True` makes the host look at the norm, and wait for it, on every step";

export const rule: Rule = {
  meta: {
    code: "PLM032",
    name: "scaler-read-every-step",
    summary: "The gradient scaler's factor, or whether the norm is finite, is read by the host on every step",
    severity: "warning",
    fix: "unsafe",
    patterns: [32],
  },
  *check(facts) {
    yield* boundBefore(facts);
    if (facts.guesses) yield* likely(facts);
    for (const call of facts.file.callsNamed(
      "get_scale",
      "state_dict",
      "clip_grad_norm_",
      "clip_grad_norm",
      "get_total_norm",
      "clip_gradients",
    )) {
      const often = facts.everyStep(call) !== null || everyUpdate(call, facts);
      if (
        call.func.kind === "Attribute" &&
        (call.func.attr === "get_scale" || isScaleOf(call)) &&
        isScaler(call.func.value, facts) &&
        (often || isBesideStep(call, facts))
      )
        yield {
          at: call,
          // `GradScaler(enabled=dtype == "float16")`: often it is off.
          ...(isOptional(facts) || !often ? { severity: "note" as const } : {}),
          message: `\`${call.func.attr}()\` copies the scale from the device, with a wait, on every step`,
        };
      if (often && looksByItself(call, facts.file))
        yield {
          at: call,
          severity: "note",
          message:
            "Fabric's `clip_gradients` makes the host look at the norm, and wait for it, on every step, unless it is given `error_if_nonfinite=False`",
          fix: {
            grade: "unsafe",
            title: "Do not look",
            edits: addKeyword(call, "error_if_nonfinite=False", facts.file),
          },
        };
      const strict = keyword(call, "error_if_nonfinite");
      const asked = given(call, "error_if_nonfinite", facts.file) ?? positional(call, 3);
      if (
        isTrue(asked) &&
        !isUsedUp(positional(call, 0), facts) &&
        (facts.file.dotted(call.func)?.startsWith("torch.nn.utils.") === true ||
          // `fabric.clip_gradients(model, optimizer, max_norm=1.0, error_if_nonfinite=True)`
          (strict !== null && call.func.kind === "Attribute" && call.func.attr === "clip_gradients")) &&
        often
      )
        yield {
          at: strict ?? asked!,
          message: LOOKS,
          fix: {
            grade: "unsafe",
            title: "Do not look",
            edits: [{ start: asked!.start, end: asked!.end, text: "False" }],
          },
        };
    }
  },
};

/** `scaler._scale.item()`, and `self.clip(parameters, 1.0, error_if_nonfinite=True)` of whoever hands it on. */
function* likely(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const isOften = (call: Call): boolean => facts.everyStep(call) !== null || everyUpdate(call, facts);
  for (const call of file.callsNamed("item", "float")) {
    const read = call.func.kind === "Attribute" ? call.func.value : positional(call, 0);
    if (read?.kind === "Attribute" && read.attr === "_scale" && isScaler(read.value, facts) && isOften(call))
      yield { at: call, message: "The scale is copied from the device, with a wait, on every step" };
  }
  for (const call of file.calls.given(["error_if_nonfinite"])) {
    const strict = keyword(call, "error_if_nonfinite")!;
    if (
      isTrue(strict.value) &&
      /clip|norm/i.test(lastWord(call.func)) &&
      !isUsedUp(positional(call, 0), facts) &&
      isOften(call)
    )
      yield { at: strict, message: LOOKS };
  }
}

/** `clip = partial(clip_grad_norm_, error_if_nonfinite=True)`, where a step calls `clip(…)`. */
function* boundBefore(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const made of file.callsNamed("partial")) {
    const strict = keyword(made, "error_if_nonfinite");
    if (!strict) continue;
    const bound = file.dotted(made.func) === "functools.partial" ? positional(made, 0) : null;
    const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    if (!bound || !named || !isTrue(strict.value)) continue;
    const isOften = file.scopes.uses(named).some(({ parent }) => {
      const call = parent?.kind === "Call" && keyword(parent, "error_if_nonfinite") === null ? parent : null;
      return call !== null && (facts.everyStep(call) !== null || everyUpdate(call, facts));
    });
    if (isOften && file.dotted(bound)?.startsWith("torch.nn.utils.") === true)
      yield {
        at: strict,
        message: LOOKS,
        fix: {
          grade: "unsafe",
          title: "Do not look",
          edits: [{ start: strict.value.start, end: strict.value.end, text: "False" }],
        },
      };
  }
}

/** `fabric.clip_gradients(model, optimizer, max_norm=1.0)`: it looks unless it is told not to; sharded, it does not listen. */
function looksByItself(call: Call, file: PythonFile): boolean {
  const norm = call.func.kind === "Attribute" ? keyword(call, "max_norm") : null;
  return (
    norm !== null &&
    lastWord(call.func) === "clip_gradients" &&
    !isNone(norm.value) &&
    given(call, "error_if_nonfinite", file) === null &&
    !hidesArguments(call, file) &&
    importsFrom(file, /^(?:lightning|lightning_fabric)(?:\.|$)/) &&
    !file.says(/(?:FSDP|DeepSpeed|ModelParallel|XLA)\w*Strategy|["'](?:fsdp|deepspeed)/)
  );
}

/** `scaler.step(optimizer)` in the same block, under whatever test: each of its steps reads it. */
function isBesideStep(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const scaler = call.func.kind === "Attribute" ? file.textOf(call.func.value) : null;
  const statement = statementOf(call);
  const block = (statement && blockOf(statement)) ?? [];
  return (
    (facts.hot(call) !== null || isMadeStep(call)) &&
    file
      .callsNamed("step")
      .some(
        ({ func, args, parent }) =>
          func.kind === "Attribute" &&
          args.length === 1 &&
          file.textOf(func.value) === scaler &&
          block.includes(parent as never),
      )
  );
}

/** In `def update(optimizer, scaler): …` that another function makes and returns: whoever gets it calls it to take a step. */
function isMadeStep(call: Call): boolean {
  const fn = functionOf(call);
  const maker = fn?.kind === "FunctionDef" && loopsAround(call).length === 0 ? functionOf(fn) : null;
  return (
    fn?.kind === "FunctionDef" &&
    maker?.kind === "FunctionDef" &&
    maker.body.some((one) => one.kind === "Return" && one.value?.kind === "Name" && one.value.id === fn.name)
  );
}

function isOptional({ file }: Facts): boolean {
  return file.callsNamed("GradScaler").some((made) => {
    const enabled = keyword(made, "enabled");
    return enabled !== null && !isTrue(enabled.value);
  });
}

/** `params = itertools.chain(…)`, made before the loop: from the second step on nothing is in it, and nothing is clipped. */
function isUsedUp(parameters: Expr | null, { file }: Facts): boolean {
  const made = parameters?.kind === "Name" ? file.scopes.onlyValue(parameters) : null;
  const [loop] = parameters ? loopsAround(parameters) : [];
  return (
    made?.kind === "Call" &&
    loop !== undefined &&
    !contains(loop, made) &&
    (/^(?:itertools\.chain|builtins\.(?:filter|map))/.test(file.dotted(made.func) ?? "") ||
      (made.func.kind === "Attribute" && made.func.attr === "parameters"))
  );
}

/** `scaler.state_dict()["scale"]`, also by `.get("scale")`: the state as a whole is for a checkpoint. */
function isScaleOf({ func, parent }: Call): boolean {
  if (func.kind !== "Attribute" || func.attr !== "state_dict") return false;
  const asks = parent?.kind === "Attribute" && parent.attr === "get" ? parent.parent : null;
  const key =
    parent?.kind === "Subscript" ? parent.index : asks?.kind === "Call" ? positional(asks, 0) : null;
  return key?.kind === "Str" && key.value === "scale";
}

/** `scaler` of `self.scaler`, `state["scaler"]`, `scalers[0]`. */
function wordOf(expr: Expr): string {
  if (expr.kind !== "Subscript") return lastWord(expr);
  return expr.index.kind === "Str" ? (expr.index.value ?? "") : lastWord(expr.value);
}

function isScaler(expr: Expr, facts: Facts): boolean {
  // Nothing else that is called so has a scale to ask for.
  if (facts.guesses && /scaler/i.test(wordOf(expr))) return true;
  if (expr.kind !== "Name")
    return (expr.kind === "Attribute" && expr.attr.endsWith("scaler")) || isEntryOfScaler(expr);
  // `scaler = None` above: without half precision there is none, and nobody asks it.
  const made = facts.file.scopes
    .reaching(expr)
    .filter(({ how, value }) => how === "param" || value?.kind !== "Const" || value.value !== null);
  if (made.length === 0) return false;
  return made.every(
    (one) =>
      (one.how === "param" && (expr.id.endsWith("scaler") || isHandedScaler(one, facts))) ||
      (one.value?.kind === "Attribute" && one.value.attr.endsWith("scaler")) ||
      (one.value !== null && isEntryOfScaler(one.value)) ||
      isMadeScaler(one, facts),
  );
}

/** `state["scaler"]` */
function isEntryOfScaler(expr: Expr): boolean {
  return (
    expr.kind === "Subscript" && expr.index.kind === "Str" && (expr.index.value ?? "").endsWith("scaler")
  );
}

/** A parameter of whatever name: the calls in this file give a `GradScaler()` for it; without any, it scales what is differentiated. */
function isHandedScaler(param: Definition, facts: Facts): boolean {
  const { file } = facts;
  const handed = handedIn(param, file, true);
  if (handed.length === 0)
    return file.callsNamed("scale").some(({ func, parent }) => {
      const of = func.kind === "Attribute" && func.value.kind === "Name" ? func.value : null;
      return (
        of?.id === param.name &&
        parent?.kind === "Attribute" &&
        parent.attr === "backward" &&
        file.scopes.reaching(of).includes(param)
      );
    });
  return handed.every((given) => {
    const made = given.kind === "Name" ? file.scopes.reaching(given) : [];
    return made.length > 0 && made.every((one) => isMadeScaler(one, facts));
  });
}

function isMadeScaler({ value }: Definition, facts: Facts): boolean {
  if (value?.kind !== "Call") return false;
  const { file } = facts;
  const isIt = (made: Expr): boolean =>
    made.kind === "Call" && (file.dotted(made.func) ?? "").endsWith("GradScaler");
  // `scaler = make_scaler()`, of a function of this file.
  const target = callTarget(value, file);
  const returned = (target === null ? undefined : file.once(returnsByName).get(target)) ?? [];
  return (
    isIt(value) || (returned.length > 0 && returned.every(isIt)) || facts.callee(value)?.makes === "scaler"
  );
}
