import { isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains } from "../../python/nodes.ts";
import type { Comp, Expr } from "../../python/tree.ts";
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
  if (!own) return of?.kind === "Call" && areDiscounted(of, file);
  return (REWARDS.test(own) && isFilledWithNumbers(of, own, file)) || areDiscounted(of, file);
}

function isTensor(expr: Expr, facts: Facts): boolean {
  return /^(?:tensor|output)$/.test(facts.value(expr).what);
}

const REWARDS = /(?:^|_)rewards?(?:_(?:buffer|buf|list|memory|history|pool))?$/;

/**
 * Python's numbers, one after the other: `returns.insert(0, total)` into an empty list, with `total = reward + gamma * total`; what
 * a function of this file returns that does so, also turned round; and what is filled with nothing but such lists.
 */
function areDiscounted(list: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => areDiscounted(inner, file, depth + 1);
  // `returns[::-1]`
  if (list.kind === "Subscript") return list.index.kind === "Slice" && again(list.value);
  if (list.kind === "Call") {
    const of = list.args.length === 1 ? positional(list, 0) : null;
    if (/^builtins\.(?:list|tuple|reversed)$/.test(file.dotted(list.func) ?? ""))
      return of !== null && again(of);
    const returned = file.once(returnsByName).get(callTarget(list, file) ?? "") ?? [];
    return returned.length > 0 && returned.every(again);
  }
  const own = selfAttribute(list);
  const filled = own === null ? filledName(list, file) : filledAttribute(list, own, file);
  return (
    filled !== null &&
    filled.length > 0 &&
    filled.every(({ value, isOne }) => (isOne ? isDiscountedSum(value, file) : again(value)))
  );
}

/** What is put into a list: one number, or all of another list. */
interface Filled {
  readonly value: Expr;
  readonly isOne: boolean;
}

/** What a method puts into the list it is called on: `append`, `insert`, `extend`. */
function putBy(use: Expr): readonly Filled[] {
  const { parent } = use;
  const call = parent?.kind === "Attribute" && parent.value === use ? parent.parent : null;
  if (parent?.kind !== "Attribute" || call?.kind !== "Call" || call.func !== parent) return [];
  const value = /^(?:append|insert|extend)$/.test(parent.attr) ? call.args.at(-1)?.value : undefined;
  return value ? [{ value, isOne: parent.attr !== "extend" }] : [];
}

/** Of a list that begins empty; null of another. */
function filledName(list: Expr, { scopes }: PythonFile): readonly Filled[] | null {
  const made = list.kind === "Name" ? scopes.reaching(list) : [];
  // `returns += discounted(rewards)` gives the name its own value again.
  const begun = made.filter(({ how }) => how !== "augment");
  const [one, ...more] = begun;
  if (!one || more.length > 0) return null;
  if (one.how === "assign" && one.value && one.value.kind !== "List")
    return made.length === 1 ? [{ value: one.value, isOne: false }] : null;
  if (one.value?.kind !== "List" || one.value.items.length > 0) return null;
  return [
    ...made.flatMap(({ how, value }) => (how === "augment" && value ? [{ value, isOne: false }] : [])),
    ...scopes.uses(one).flatMap(putBy),
  ];
}

/** Of one that an object keeps, begun empty, or with an empty place for each worker: `self.returns = [{}]`. */
function filledAttribute(list: Expr, own: string, file: PythonFile): readonly Filled[] | null {
  const cls = classOf(list);
  if (!cls) return null;
  const isIt = (expr: Expr): boolean => selfAttribute(expr) === own && classOf(expr) === cls;
  const found: Filled[] = [];
  for (const { how, value } of attributesOf(cls, file).get(own)?.writes ?? []) {
    // `self.returns = torch.from_numpy(np.array(self.returns))`, where it is asked.
    if (!value || contains(value, list) || isEmpty(value, file)) continue;
    if (how !== "assign" && how !== "augment") return null;
    found.push({ value, isOne: false });
  }
  for (const call of file.callsNamed("append", "insert", "extend"))
    if (call.func.kind === "Attribute" && isIt(call.func.value)) found.push(...putBy(call.func.value));
  // `self.returns[0][worker] = returns`
  for (const { targets, value } of file.all("Assign")) {
    let [at] = targets;
    if (at?.kind !== "Subscript") continue;
    while (at?.kind === "Subscript") at = at.value;
    if (at && isIt(at)) found.push({ value, isOne: false });
  }
  return found;
}

/** `[]`, `{}`, `dict()`, None, and lists of these. */
function isEmpty(expr: Expr, file: PythonFile): boolean {
  if (isNone(expr)) return true;
  if (expr.kind === "List") return expr.items.every((item) => isEmpty(item, file));
  if (expr.kind === "Dict") return expr.values.length === 0;
  return (
    expr.kind === "Call" &&
    expr.args.length === 0 &&
    /^builtins\.(?:list|dict)$/.test(file.dotted(expr.func) ?? "")
  );
}

/** `total` of `total = 0` and `total = reward + gamma * total`. */
function isDiscountedSum(expr: Expr, file: PythonFile): boolean {
  const made = expr.kind === "Name" ? (file.scopes.lookup(expr)?.definitions ?? []) : [];
  return (
    made.some(({ value }) => value?.kind === "Num") &&
    made.some(({ value }) => value?.kind === "Binary" && /gamma|discount/i.test(file.textOf(value))) &&
    made.every(({ value }) => value?.kind === "Num" || value?.kind === "Binary")
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
