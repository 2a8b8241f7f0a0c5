import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { deleteStatement } from "../edits.ts";
import { isMain } from "../facts/summary.ts";
import type { Finding, Rule } from "../rule.ts";

const BLOCKING =
  "`CUDA_LAUNCH_BLOCKING=1` makes the host wait for every single kernel of the run; it is for finding one fault";

export const rule: Rule = {
  meta: {
    code: "PLM030",
    name: "synchronized-every-step",
    summary: "The host waits for the device on purpose, on every step or for every kernel",
    severity: "warning",
    fix: "unsafe",
    patterns: [30],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.callsNamed("synchronize", "setdefault", "update")) {
      const name = file.dotted(call.func) ?? "";
      const stream =
        call.func.kind === "Attribute" &&
        call.func.attr === "synchronize" &&
        isMainStream(call.func.value, file);
      if (name === "os.environ.setdefault" || name === "os.environ.update") yield* environment(call, file);
      const event = isEvent(call, file);
      if (
        !(stream || event || /^torch\.(?:cuda|xpu|mps|npu|accelerator)\.synchronize$/.test(name)) ||
        !facts.everyStep(call)
      )
        continue;
      // Beside a clock it is what makes the clock right.
      const fn = functionOf(call);
      const around = file.codeOf(fn ?? file.tree.module);
      if (/\bprofile\(|emit_nvtx|(?<!cudnn\.)bench/i.test(around) || /\.stream\(|\bStream\(/.test(around))
        continue;
      // What was received from another stage is waited for, as Megatron does.
      if (/batch_isend_irecv/.test(around)) continue;
      const timed = event || /Event\(|elapsed_time/.test(around) || besideClock(call, file);
      const statement = statementOf(call);
      const idle = isAfterRead(call);
      // A function of its own for it is called where other processes must see what was computed.
      const shared = fn?.kind === "FunctionDef" && /sync/i.test(fn.name);
      yield {
        at: call,
        ...(timed || shared || idle ? { severity: "note" as const } : {}),
        message: idle
          ? "A read just before has waited for the device already: this wait is for nothing"
          : timed
            ? "The host waits here on every step to read a clock; events that are read some steps later time the device without a wait"
            : "The host waits here on every step until the device has finished; operations are in order without it",
        ...(statement?.kind === "ExprStmt" && statement.value === call && !timed
          ? { fix: { grade: "unsafe" as const, title: "Remove it", edits: deleteStatement(statement, file) } }
          : {}),
      };
    }
    if (!file.mentions("CUDA_LAUNCH_BLOCKING")) return;
    if (facts.guesses) yield* handedOn(file);
    if (!file.all("Str").some(({ value }) => value === "CUDA_LAUNCH_BLOCKING")) return;
    for (const { op, target, value, parent, start, end } of file.all("AugAssign"))
      if (
        op === "|" &&
        file.dotted(target) === "os.environ" &&
        value.kind === "Dict" &&
        parent?.kind !== "If" &&
        value.keys.some(
          (key, at) =>
            key?.kind === "Str" && key.value === "CUDA_LAUNCH_BLOCKING" && isOne(value.values[at] ?? null),
        )
      )
        yield { at: { start, end }, message: BLOCKING };
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        target?.kind !== "Subscript" ||
        target.index.kind !== "Str" ||
        target.index.value !== "CUDA_LAUNCH_BLOCKING" ||
        file.dotted(target.value) !== "os.environ"
      )
        continue;
      const { parent } = statement;
      if (!isOne(statement.value) || (parent?.kind === "If" && !isMain(parent))) continue;
      yield {
        at: statement,
        ...(isTrial(file) ? { severity: "note" as const } : {}),
        message: BLOCKING,
        fix: { grade: "unsafe", title: "Remove it", edits: deleteStatement(statement, file) },
      };
    }
  },
};

/** `os.environ.update(CUDA_LAUNCH_BLOCKING="1")`, `os.putenv("CUDA_LAUNCH_BLOCKING", "1")`, `dict(os.environ, …)` for another process. */
function* handedOn(file: PythonFile): Generator<Finding> {
  const isAsked = (call: Call): boolean => statementOf(call)?.parent?.kind === "If";
  for (const call of file.calls.given(["CUDA_LAUNCH_BLOCKING"]))
    if (isOne(keyword(call, "CUDA_LAUNCH_BLOCKING")!.value) && !isAsked(call))
      yield { at: call, message: BLOCKING };
  for (const call of file.callsNamed("putenv")) {
    const [name, value] = call.args;
    if (
      name?.value.kind === "Str" &&
      name.value.value === "CUDA_LAUNCH_BLOCKING" &&
      isOne(value?.value ?? null) &&
      !isAsked(call)
    )
      yield { at: call, message: BLOCKING };
  }
}

/** `torch.cuda.current_stream()`, also under a name. */
function isMainStream(expr: Expr, file: PythonFile): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  return (
    made?.kind === "Call" && /^torch\.\w+\.(?:current|default)_stream$/.test(file.dotted(made.func) ?? "")
  );
}

/** `test_kernel.py` looks for faults. */
function isTrial(file: PythonFile): boolean {
  return /(?:^|\/)(?:tests?\/|test_[^/]*$)/.test(file.path);
}

/** `done.synchronize()` of a `torch.cuda.Event()`. */
function isEvent({ func }: Call, file: PythonFile): boolean {
  if (func.kind !== "Attribute" || func.attr !== "synchronize" || func.value.kind !== "Name") return false;
  const made = file.scopes.reaching(func.value);
  return (
    made.length > 0 &&
    made.every(
      ({ value }) => value?.kind === "Call" && /^torch\.\w+\.Event$/.test(file.dotted(value.func) ?? ""),
    )
  );
}

/** Calls that give the device nothing to do. */
const QUIET = /^(?:size|update|append|collect|empty_cache)$/;

/** Nothing is queued since the last `.item()` or `synchronize()`, which waited for all of it. */
function isAfterRead(call: Call): boolean {
  let at = statementOf(call);
  // `if torch.cuda.is_available(): torch.cuda.synchronize()`
  if (at?.parent?.kind === "If" && at.parent.body[0] === at) at = at.parent;
  const block = (at && blockOf(at)) ?? [];
  for (const before of block.slice(0, at ? block.indexOf(at) : 0).reverse()) {
    if (!/^(?:Assign|AugAssign|ExprStmt|Delete)$/.test(before.kind)) return false;
    const calls: Call[] = [];
    walk(before, (node) => {
      if (node.kind === "Call") calls.push(node);
    });
    if (
      calls.some(({ func }) => func.kind === "Attribute" && /^(?:item|tolist|synchronize)$/.test(func.attr))
    )
      return true;
    if (!calls.every(({ func }) => func.kind === "Attribute" && QUIET.test(func.attr))) return false;
  }
  return false;
}

/** Within three statements of a reading of a clock. */
function besideClock(call: Call, file: PythonFile): boolean {
  for (let at = statementOf(call); at?.parent; at = statementOf(at.parent)) {
    const block = blockOf(at) ?? [];
    const here = block.indexOf(at);
    const near = block
      .slice(Math.max(0, here - 3), here + 4)
      .filter((one) => !["For", "While", "If"].includes(one.kind));
    if (near.some((one) => /\btime\.|perf_counter|monotonic|timer/i.test(file.textOf(one)))) return true;
    if (at.parent.kind === "For" || at.parent.kind === "While" || at.parent.kind === "FunctionDef")
      return false;
  }
  return false;
}

/** `os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")`, `os.environ.update({…})`. */
function* environment(call: Call, file: PythonFile): Generator<Finding> {
  const [first, second] = call.args;
  const set =
    first?.value.kind === "Dict"
      ? first.value.keys.some(
          (key, at) =>
            key?.kind === "Str" &&
            key.value === "CUDA_LAUNCH_BLOCKING" &&
            isOne((first.value as Expr & { kind: "Dict" }).values[at] ?? null),
        )
      : first?.value.kind === "Str" &&
        first.value.value === "CUDA_LAUNCH_BLOCKING" &&
        isOne(second?.value ?? null);
  const statement = statementOf(call);
  if (set && statement?.parent?.kind !== "If")
    yield {
      at: call,
      message: BLOCKING,
      ...(statement?.kind === "ExprStmt" && first?.value.kind === "Str"
        ? { fix: { grade: "unsafe" as const, title: "Remove it", edits: deleteStatement(statement, file) } }
        : {}),
    };
}

function isOne(expr: Expr | null): boolean {
  // `str(1)`
  if (expr?.kind === "Call" && expr.func.kind === "Name" && expr.func.id === "str") {
    const given = expr.args[0]?.value;
    return given?.kind === "Num" && given.text === "1";
  }
  return expr?.kind === "Str" && expr.value === "1";
}
