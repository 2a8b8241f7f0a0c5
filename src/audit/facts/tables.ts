import { isNone, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, walk } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef } from "../../python/tree.ts";
import { FUNCTIONS, METHODS, TUPLE_RESULTS, last } from "./torch-names.ts";

/** A function makes a tensor out of nothing, on the host unless one of its parameters says another device. */
export interface Table {
  readonly device?: string | undefined;
  /** Left out, the parameter is no other device than the host. */
  readonly optional?: true | undefined;
}

/** What constants are made with. */
const MAKERS = ["arange", "linspace", "logspace", "zeros", "ones", "full", "eye", "tensor", "from_numpy"];

/** What may bring it to another device, or make it anew where another tensor is. */
const ELSEWHERE = /^(?:to|cuda|type_as|device|Parameter|new_\w+|\w+_like|set_default_\w+)$/;

/** `torch.ones_like(freqs)`, `device=freqs.device`, of a tensor that the function makes itself: where that is. */
function isWhereItsOwnIs(node: Attribute, file: PythonFile): boolean {
  const of = node.attr === "device" ? node.value : givenFirst(node);
  return of?.kind === "Name" && isTensor(of, file, 0);
}

function givenFirst(func: Attribute): Expr | null {
  return func.attr.endsWith("_like") && func.parent?.kind === "Call" && func.parent.func === func
    ? (func.parent.args[0]?.value ?? null)
    : null;
}

/** Functions at the top of the file that hand out a tensor which they make on the host. */
export function tablesMade(file: PythonFile): ReadonlyMap<FunctionDef, Table> {
  const found = new Map<FunctionDef, Table>();
  const asked = new Set<FunctionDef>();
  // One by one: in source order, which nobody needs, all together take longer.
  for (const maker of MAKERS)
    for (const call of file.callsNamed(maker)) {
      const fn = functionOf(call);
      if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module" || asked.has(fn)) continue;
      asked.add(fn);
      const table = fn.decorators.length === 0 ? tableOf(fn, file) : null;
      if (table) found.set(fn, table);
    }
  return found;
}

function tableOf(fn: FunctionDef, file: PythonFile): Table | null {
  let returns = 0;
  let device: string | null = null;
  let known = true;
  walk(fn, (node) => {
    if (node.kind === "Attribute" && ELSEWHERE.test(node.attr)) known = isWhereItsOwnIs(node, file);
    else if (node.kind === "Yield" || node.kind === "Lambda") known = false;
    else if (node.kind === "Return") {
      returns++;
      if (!node.value || !isTensor(node.value, file, 0)) known = false;
    } else if (node.kind === "Call") {
      const given = node.args.length > 0 ? keyword(node, "device")?.value : null;
      const place = given?.kind === "Attribute" && isWhereItsOwnIs(given, file) ? null : given;
      const name = place?.kind === "Name" ? place.id : null;
      if (place && (name === null || (device !== null && device !== name))) known = false;
      device ??= name;
    }
    return known;
  });
  if (!known || returns === 0) return null;
  if (device === null) return {};
  const param = fn.params.find(({ name }) => name === device);
  if (!param) return null;
  const unsaid = param.default;
  const isHost = isNone(unsaid) || (unsaid?.kind === "Str" && unsaid.value === "cpu");
  return { device, optional: isHost || undefined };
}

/** What torch makes or computes, and what becomes of it by a tensor's methods, an index or a sum. */
function isTensor(expr: Expr, file: PythonFile, depth: number): boolean {
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => isTensor(inner, file, depth + 1);
  if (expr.kind === "Call") return isComputed(expr, file) || isMethod(expr, again);
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind !== "Name") return false;
  const definitions = file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(({ how, value }) => how === "assign" && value !== null && again(value))
  );
}

function isComputed({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func) ?? "";
  const word = last(name);
  return (
    name === `torch.${word}` && (MAKERS.includes(word) || (FUNCTIONS.has(word) && !TUPLE_RESULTS.has(word)))
  );
}

function isMethod({ func }: Call, isOne: (expr: Expr) => boolean): boolean {
  return func.kind === "Attribute" && METHODS.has(func.attr) && isOne(func.value);
}
