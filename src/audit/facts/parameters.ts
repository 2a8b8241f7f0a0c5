import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { TENSORIZES, entriesAnew } from "./entries-anew.ts";
import type { Edge } from "./graph.ts";
import type { FunctionSummary } from "./summary.ts";
import { either } from "./value.ts";
import type { Value } from "./value.ts";
import { Values } from "./values.ts";
import { lexicalGrad } from "./gradmode.ts";
import { backwardCalls } from "./training.ts";
import { roleOfBase } from "./classes.ts";
import type { Role } from "./classes.ts";

/** Tensors that a call passes, by position ("0") or keyword; what is not one is not listed. */
export type Passed = Readonly<Record<string, Value>>;

const OPTIMIZERS = /\btorch\.optim\b|\bfrom torch import .*\boptim\b/;

/** Looks at the arguments of calls, in files that train: elsewhere nobody asks. */
export function passedBy(file: PythonFile): (call: Call) => Passed | null {
  const trains =
    backwardCalls(file).length > 0 ||
    // The step may be another file's, which is handed the batch and the optimizer.
    (file.mentions("optim") && OPTIMIZERS.test(file.text)) ||
    file.all("FunctionDef").some(({ name }) => name === "training_step" || name === "compute_loss");
  if (!trains) return () => null;
  const roles = new Map<string, Role>();
  for (const cls of file.all("ClassDef")) {
    const role = cls.args
      .map((arg) => file.dotted(arg.value))
      .map((base) => (base === null ? null : (roles.get(base) ?? roleOfBase(base))))
      .find((one) => one !== null);
    if (role) roles.set(file.qualified(cls), role);
  }
  const values = new Values(file, {
    gradMode: (node) => lexicalGrad(node, file) ?? "on",
    role: (cls) => roles.get(file.qualified(cls)) ?? "other",
    roleOfName: (dotted) => roles.get(dotted) ?? "other",
    parameter: () => null,
    inForward: () => false,
    reduced: () => null,
    ran: () => null,
    loss: () => null,
    numbers: () => null,
    stepped: () => [],
    hostLoss: false,
    guesses: false,
  });
  return (call) => {
    const passed: Record<string, Value> = {};
    let any = false;
    for (const [at, arg] of call.args.entries()) {
      if (arg.star !== 0) return null;
      const value = collected(arg.value, file, values) ?? values.of(arg.value);
      if (value.what !== "tensor" && value.what !== "output") continue;
      passed[arg.name ?? String(at)] = value;
      any = true;
    }
    return any ? passed : null;
  };
}

/** `(src, tgt)`, `{k: v.to(device) for k, v in batch.items()}`: of tensors alone, asked for one of them it is one. */
function collected(expr: Expr, file: PythonFile, values: Values): Value | null {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  const items =
    made?.kind === "Tuple" || made?.kind === "List"
      ? made.items
      : made?.kind === "Dict"
        ? made.values
        : made?.kind === "Comp"
          ? [made.value ?? made.element]
          : [];
  if (items.length === 0) return ofEntriesAnew(expr, file, values);
  const found = items.map((item) => values.of(item));
  return found.length > 0 && found.every(({ what }) => what === "tensor" || what === "output")
    ? { ...found.reduce(either), what: "output" }
    : null;
}

/** The same of a dict whose entries are made anew one by one; where by a function of another file, its name says that it makes tensors. */
function ofEntriesAnew(expr: Expr, file: PythonFile, values: Values): Value | null {
  const found = entriesAnew(expr, file).map((one) => {
    const value = values.of(one);
    return value.what === "unknown" && one.kind === "Call" && TENSORIZES.test(lastWord(one.func))
      ? OF_UNKNOWN_PLACE
      : value;
  });
  return found.length > 0 && found.every(({ what }) => what === "tensor" || what === "output")
    ? { ...found.reduce(either), what: "output" }
    : null;
}

const OF_UNKNOWN_PLACE: Value = { what: "tensor", device: "unknown", graph: "no" };

/** The parameters that are tensors in each of these calls of the function. */
export function passedParameters(
  summary: FunctionSummary,
  callers: readonly Edge[],
): Record<string, Value> | null {
  // One caller that passes no tensor at all settles it: asked of every function, and so of nearly all.
  if (callers.length === 0 || callers.some(({ site }) => !site.passed)) return null;
  let known: Record<string, Value> | null = null;
  const params = summary.params.split(",");
  const last = params.at(-1)!;
  const rest = last.startsWith("**") ? last.slice(2) : null;
  // A method is called without its first parameter, unless through its class.
  const shift = params[0] === "self" ? 1 : 0;
  const counts = new Map<string, number>();
  for (const { site } of callers) {
    let collects = false;
    for (const [key, value] of Object.entries(site.passed!)) {
      let name = /^\d+$/.test(key) ? params[Number(key) + shift] : key;
      if (name === undefined) continue;
      let given = value;
      // `report(step, loss=loss)` of `def report(step, **values)`: one of these, asked for by its key.
      const isRest = !params.includes(name);
      if (isRest) {
        if (rest === null) continue;
        name = rest;
        given = { ...value, what: "output" };
      }
      known ??= {};
      const before = known[name];
      known[name] = before
        ? {
            what: before.what === given.what ? given.what : "output",
            device: either(before, { ...given, what: before.what }).device,
            graph: before.graph === given.graph ? given.graph : "unknown",
          }
        : given;
      if (!isRest || !collects) counts.set(name, (counts.get(name) ?? 0) + 1);
      collects ||= isRest;
    }
  }
  if (known)
    for (const param of Object.keys(known)) if (counts.get(param) !== callers.length) delete known[param];
  return known;
}
