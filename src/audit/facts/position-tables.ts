import { contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import { argument } from "../../python/file.ts";
import type { Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isSetting, isSize } from "./own-settings.ts";
import { callsOf } from "./returns.ts";

export const TABLES = new Set([
  "arange",
  "linspace",
  "logspace",
  "eye",
  "hann_window",
  "hamming_window",
  "blackman_window",
  "kaiser_window",
  "bartlett_window",
]);

/** What turns numbers into an array or a tensor, with the tables. */
const ARRAYS = ["array", "tensor", "FloatTensor", "Tensor", "from_numpy", "zeros", "empty"];

/** Functions of this file that make a table of sines: of sizes alone, whatever way they count the positions. */
export function waveMakers(facts: Facts): ReadonlySet<FunctionDef> {
  const { file } = facts;
  const found = new Set<FunctionDef>();
  const asked = new Set<FunctionDef>();
  for (const call of file.callsNamed("sin", "cos", "polar")) {
    // Each element may have a function of its own, inside.
    let fn = functionOf(call);
    for (let outer = fn && functionOf(fn); outer; outer = functionOf(outer)) fn = outer;
    if (fn?.kind !== "FunctionDef" || asked.has(fn)) continue;
    asked.add(fn);
    if (fn.parent?.kind !== "Module" && !isOfGiven(fn) && !isOfSettings(fn, facts)) continue;
    // Kept or drawn, it is not made of its sizes again.
    if (
      fn.decorators.length > 0 &&
      !/^staticmethod$/.test(fn.decorators.map((one) => file.textOf(one)).join())
    )
      continue;
    if (/cache|rand|\bglobal\b/i.test(file.codeOf(fn).replaceAll(fn.name, ""))) continue;
    if (file.callsNamed(...TABLES, ...ARRAYS).some((one) => contains(fn, one))) found.add(fn);
  }
  return found;
}

/** A number that the sizes of the input and the settings say. */
export function isCount(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Binary") return isCount(expr.left, facts) && isCount(expr.right, facts);
  return (
    expr.kind === "Const" ||
    expr.kind === "Str" ||
    isSetting(expr, facts) ||
    isSize(expr, facts) ||
    isStart(expr, facts)
  );
}

/** `start_pos: int = 0` of a forward: where the input begins, which moves no row of the table. */
function isStart(expr: Expr, { file }: Facts): boolean {
  const [given, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (given?.node.kind !== "Param" || more.length > 0) return false;
  const { annotation, default: value } = given.node;
  return (
    (annotation !== null && /^(?:Optional\[int\]|int(?: \| None)?)$/.test(file.textOf(annotation))) ||
    (value?.kind === "Num" && /^\d+$/.test(value.text))
  );
}

/** A method that makes it of what it is given alone: with `self` at hand it may well keep it. */
export function isOfGiven(fn: FunctionDef): boolean {
  if (fn.parent?.kind !== "ClassDef" || fn.name === "__init__" || fn.name === "forward") return false;
  let given = true;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind !== "Name" || node.id !== "self") return;
      // `self.embed.weight.device` is a place.
      let at: Node = node;
      while (at.parent?.kind === "Attribute") at = at.parent;
      if (at.kind !== "Attribute" || !isPlace(at)) given = false;
    });
  return given;
}

/** A method that asks `self` for nothing but settings. */
export function isOfSettings(fn: FunctionDef, facts: Facts): boolean {
  if (fn.parent?.kind !== "ClassDef" || fn.name === "__init__" || fn.name === "forward") return false;
  const { file } = facts;
  const isAskedForSetting = ({ parent }: Name): boolean =>
    parent?.kind === "Attribute" &&
    isSetting(parent, facts) &&
    !(parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent));
  return file
    .all("Name")
    .every((name) => name.id !== "self" || !contains(fn, name) || isAskedForSetting(name));
}

/** A device or a type. */
export function isPlace(expr: Expr): boolean {
  return (expr.kind === "Attribute" || expr.kind === "Name") && /^(?:device|dtype)$/.test(lastWord(expr));
}

/** Made of `arange` alone: by torch's functions and methods, with numbers, sizes and settings. */
export function isPositions(expr: Expr, facts: Facts): boolean {
  let counted = false;
  const made = (one: Expr, depth: number): boolean => {
    const again = (inner: Expr): boolean => made(inner, depth + 1);
    if (depth > 20) return false;
    if (one.kind === "Num" || one.kind === "Str" || one.kind === "Const" || one.kind === "Slice") return true;
    if (isPlace(one) || isSetting(one, facts) || isSize(one, facts)) return true;
    if (one.kind === "Attribute" && /^(?:math|numpy|torch)\.pi$/.test(facts.file.dotted(one) ?? ""))
      return true;
    if (one.kind === "Binary") return again(one.left) && again(one.right);
    if (one.kind === "Unary") return again(one.operand);
    if (one.kind === "Tuple" || one.kind === "List") return one.items.every(again);
    if (one.kind === "Subscript") return again(one.value);
    if (one.kind === "Name") {
      const value = facts.file.scopes.onlyValue(one);
      // `def forward(self, x, seq_len=None)`
      if (value === null && /^(?:max_)?seq_?(?:len|length)$/.test(one.id))
        return facts.file.scopes.reaching(one).every(({ how }) => how === "param");
      // `[torch.arange(n) for n in self.size]`
      const [bound, ...more] = value === null ? facts.file.scopes.reaching(one) : [];
      if (bound?.how === "iterate" && bound.value && bound.index === null && more.length === 0)
        return isSetting(bound.value, facts) || isSize(bound.value, facts);
      if (value === null) return isToldCount(one, facts);
      return functionOf(value) === functionOf(one) && again(value);
    }
    if (one.kind !== "Call") return false;
    const name = facts.file.dotted(one.func);
    const given = one.args.every((arg) => arg.star === 0 && (arg.name === "dtype" || again(arg.value)));
    if (name !== null) {
      if (/^torch\.(?:arange|linspace)$/.test(name)) counted = true;
      return (
        given &&
        /^(?:torch\.(?:arange|linspace|outer|einsum|exp|pow|float_power|matmul|cat|stack|repeat_interleave|tensor|log)|math\.\w+|builtins\.(?:max|min)|numpy\.(?:log|log10|exp|sqrt))$/.test(
          name,
        )
      );
    }
    return (
      one.func.kind === "Attribute" &&
      /^(?:to|float|double|half|bfloat16|unsqueeze|view|reshape|flatten|expand|repeat|repeat_interleave|exp|pow|mul|div|neg|reciprocal|type_as|cuda|t)$/.test(
        one.func.attr,
      ) &&
      // `.to(x)` takes its place and type from x, and none of its values.
      (given || /^(?:to|type_as)$/.test(one.func.attr)) &&
      again(one.func.value)
    );
  };
  return made(expr, 0) && counted;
}

/** `base` of `def rotate(x, width, base=10000.0)`: a number by default, and where the file calls it, whatever else it is told. */
function isToldCount(name: Name, facts: Facts): boolean {
  const { file } = facts;
  const [told, ...more] = file.scopes.reaching(name);
  const fn = told?.node.parent;
  if (told?.node.kind !== "Param" || more.length > 0) return false;
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") return false;
  const byDefault = told.node.default?.kind === "Num";
  const given = callsOf(fn, file).map((call) =>
    argument(
      call,
      name.id,
      fn.params.findIndex((param) => param === told.node),
    ),
  );
  return (
    (byDefault || given.length > 0) &&
    given.every((value) => (value === null ? byDefault : isCount(value, facts)))
  );
}
