import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Comp, Expr, Name } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { float64Makers, isFloat64 } from "./float64.ts";
import type { Known } from "./numpy-arrays.ts";
import { returnsByName } from "./returns.ts";
import { isScaledFrame, rootOf } from "./scaled-frames.ts";
import { callTarget } from "./summary.ts";

export function known(facts: Facts): Known {
  return {
    file: facts.file,
    isTensor: (expr) => isTensor(expr, facts),
    isMadeElsewhere: (call, at) => {
      const wide = facts.callee(call)?.wide ?? null;
      return wide !== null && (at === null ? wide === "" : wide.split(",").includes(String(at)));
    },
    option: (name) => facts.project.options.get(name),
  };
}

/** `1 / (n * chances[rows])`, `np.log(lengths + 1)`: no whole numbers, and so no pixels or labels either. */
export function hasFractions(data: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const again = (inner: Expr): boolean => hasFractions(inner, facts, depth + 1);
  if (depth > 4) return false;
  if (data.kind === "Name") {
    const made = file.scopes.onlyValue(data);
    return made !== null && again(made);
  }
  if (data.kind === "Subscript") return again(data.value);
  if (data.kind === "Binary")
    return (
      [data.left, data.right].every((side) => !isTensor(side, facts)) &&
      !NARROW.test(file.textOf(data)) &&
      (data.op === "/" || again(data.left) || again(data.right))
    );
  return (
    data.kind === "Call" &&
    !NARROW.test(file.textOf(data)) &&
    /^numpy\.(?:sqrt|exp|log|log2|log10|log1p|sin|cos|tanh|divide|mean|std)$/.test(
      file.dotted(data.func) ?? "",
    )
  );
}

/** Not by its type, which nobody here knows, but by what it is for. */
export function isWideByUse(data: Expr, facts: Facts): boolean {
  return (
    areRewards(data, facts) ||
    areMadeWide(data, facts) ||
    isOfWideDict(data, facts) ||
    isScaledFrame(data, facts.once(known)) ||
    isOfNumbers(data, facts)
  );
}

/** Methods that give a batch of what is kept. */
const HANDS_OUT = /sample|batch|draw|pick|select/i;

/**
 * `{key: torch.from_numpy(rows).to(device) for key, rows in batch.items()}`, of a batch that a buffer hands out with float64 in
 * it, or of whatever the function is given, in a file with such a buffer.
 */
function isOfWideDict(data: Expr, facts: Facts): boolean {
  const { file } = facts;
  const [one, ...more] = data.kind === "Name" ? file.scopes.reaching(data) : [];
  const over = one?.how === "iterate" && more.length === 0 ? one.value : null;
  if (over?.kind !== "Call" || over.func.kind !== "Attribute" || over.func.value.kind !== "Name")
    return false;
  if (over.func.attr !== (one!.index === null ? "values" : "items") || one!.index === 0) return false;
  const [from, ...others] = file.scopes.reaching(over.func.value);
  if (!from || others.length > 0) return false;
  const hasKeys = (wide: string | null | undefined): boolean => /[a-z]/i.test(wide ?? "");
  if (from.how === "param")
    return [...file.once(float64Makers)].some(([fn, wide]) => HANDS_OUT.test(fn.name) && hasKeys(wide));
  return from.how === "assign" && from.value?.kind === "Call" && hasKeys(facts.callee(from.value)?.wide);
}

/**
 * `np.array([tree[i] for i in chosen]) / total`, `np.array([r / n for r in all])`: of Python's numbers, or of whole ones, a
 * quotient or a power is float64; only scalars of NumPy's own float32 would leave it narrower.
 */
function isOfNumbers(data: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 5) return false;
  const again = (inner: Expr): boolean => isOfNumbers(inner, facts, depth + 1);
  if (data.kind === "Name") {
    const made = file.scopes.onlyValue(data);
    return made !== null && again(made);
  }
  const isQuotient = (expr: Expr): boolean =>
    expr.kind === "Binary" &&
    (expr.op === "/" || expr.op === "**") &&
    !isTensor(expr.left, facts) &&
    !isTensor(expr.right, facts) &&
    !NARROW.test(file.textOf(expr));
  if (data.kind === "Binary")
    return (
      again(data.left) ||
      again(data.right) ||
      (isQuotient(data) && [data.left, data.right].some((side) => listed(side, file)))
    );
  if (data.kind !== "Call" || keyword(data, "dtype")) return false;
  const name = file.dotted(data.func) ?? "";
  const of = positional(data, 0);
  if (/^numpy\.(?:power|divide|sqrt|exp|log|abs|clip)$/.test(name)) return of !== null && again(of);
  const rows = listed(data, file);
  return rows !== null && isQuotient(rows.element);
}

/** `np.array([f(x) for x in rows])`, also by a name. */
function listed(expr: Expr, file: PythonFile): Comp | null {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  const rows =
    made?.kind === "Call" &&
    made.args.length === 1 &&
    /^numpy\.(?:array|asarray)$/.test(file.dotted(made.func) ?? "")
      ? positional(made, 0)
      : null;
  const whole = rows?.kind === "Name" ? file.scopes.onlyValue(rows) : rows;
  return whole?.kind === "Comp" && whole.value === null ? whole : null;
}

/**
 * `np.array(rewards)`, `np.array(self.reward_buffer)`, of the Python numbers that environments hand out, and what is computed of
 * them: `(r - r.mean()) / r.std()`.
 */
function areRewards(data: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => areRewards(inner, facts, depth + 1);
  if (data.kind === "Name") {
    const made = file.scopes.onlyValue(data);
    return made !== null && again(made);
  }
  if (data.kind === "Binary")
    return (
      (again(data.left) && !isTensor(data.right, facts)) || (again(data.right) && !isTensor(data.left, facts))
    );
  if (data.kind === "Subscript") return again(data.value);
  if (
    data.kind === "Call" &&
    data.func.kind === "Attribute" &&
    /^(?:copy|reshape|cumsum)$/.test(data.func.attr)
  )
    if (file.dotted(data.func) === null) return again(data.func.value);
  const of =
    data.kind === "Call" &&
    data.args.length === 1 &&
    /^numpy\.(?:array|asarray|cumsum)$/.test(file.dotted(data.func) ?? "")
      ? positional(data, 0)
      : null;
  if (of?.kind === "Subscript" && of.value.kind === "Name") return REWARDS.test(of.value.id);
  if (of?.kind === "Name") return REWARDS.test(of.id) || areDiscounted(of, file);
  // What a function or method of this file hands out.
  const target = data.kind === "Call" && of === null ? callTarget(data, file) : null;
  const returned = target === null ? [] : (file.once(returnsByName).get(target) ?? []);
  if (returned.length > 0) return returned.every(again);
  const own = of && selfAttribute(of);
  return !!own && REWARDS.test(own) && isFilledWithNumbers(of!, own, file);
}

function isTensor(expr: Expr, facts: Facts): boolean {
  return /^(?:tensor|output)$/.test(facts.value(expr).what);
}

const REWARDS = /(?:^|_)rewards?(?:_(?:buffer|buf|list|memory|history|pool))?$/;

/** `returns.insert(0, total)` into an empty list, with `total = reward + gamma * total`: Python's numbers, one after the other. */
function areDiscounted(list: Name, file: PythonFile): boolean {
  const { scopes } = file;
  const [begun, ...more] = scopes.reaching(list);
  if (more.length > 0 || begun?.value?.kind !== "List" || begun.value.items.length > 0) return false;
  const added = scopes.uses(begun).flatMap(({ parent }) => {
    const call = parent?.kind === "Attribute" ? parent.parent : null;
    return parent?.kind === "Attribute" && call?.kind === "Call" && /^(?:append|insert)$/.test(parent.attr)
      ? [call.args.at(-1)?.value ?? null]
      : [];
  });
  return (
    added.length > 0 &&
    added.every((one) => {
      const made = one?.kind === "Name" ? (scopes.lookup(one)?.definitions ?? []) : [];
      return (
        made.some(({ value }) => value?.kind === "Num") &&
        made.some(({ value }) => value?.kind === "Binary" && /gamma|discount/i.test(file.textOf(value))) &&
        made.every(({ value }) => value?.kind === "Num" || value?.kind === "Binary")
      );
    })
  );
}

/** `self.rewards = []`, and nothing is put there that says another type: `self.rewards.append(torch.tensor(r))`. */
function isFilledWithNumbers(list: Expr, own: string, file: PythonFile): boolean {
  const cls = classOf(list);
  const writes = cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ value }) => value?.kind === "List" && value.items.length === 0) &&
    file
      .callsNamed("append", "extend")
      .every(
        ({ func, args }) =>
          func.kind !== "Attribute" ||
          selfAttribute(func.value) !== own ||
          args.every(({ value }) => !NARROW.test(file.textOf(value))),
      )
  );
}

/** `self.states[chosen]`, which the constructor makes and fills as float64, whatever another method may put in its place. */
function areMadeWide(data: Expr, facts: Facts): boolean {
  const { file } = facts;
  const part = data.kind === "Name" ? file.scopes.onlyValue(data) : data;
  const whole = part && rootOf(part);
  const own = whole ? selfAttribute(whole) : null;
  const cls = own === null ? null : classOf(whole!);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  const begun = writes.filter((write) => write.in.name === "__init__");
  return (
    begun.length > 0 &&
    begun.every(({ how, value }) => how === "assign" && value && isFloat64(value, facts.once(known))) &&
    // What is put there later may be anything that it does not say.
    writes.every(({ value }) => value === null || !NARROW.test(file.textOf(value)))
  );
}

const NARROW = /float32|float16|single|half|int\d|bool|torch\./;
