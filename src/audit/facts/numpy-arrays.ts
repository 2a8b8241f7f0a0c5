import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { entry } from "./arguments.ts";
import { attributesOf, isSelf, selfAttribute } from "./classes.ts";
import { isOfTable } from "./data-frames.ts";
import type { Default } from "./options.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/** What is known around an array: in its file, and, once the whole tree has been read, in others. */
export interface Known {
  readonly file: PythonFile;
  isTensor(expr: Expr): boolean;
  /** Goes to a function of another file that makes such an array, or has one at a place, or under a key, of what it hands back. */
  isMadeElsewhere(call: Call, at: number | string | null): boolean;
  /** What an option is by default. */
  option(name: string): Default | undefined;
  /** What a parameter is given, where one call is looked at, and what is known there. */
  given?(param: Definition): { readonly value: Expr; readonly around: Known } | null;
}

/** Methods that leave an array an array. */
const SAME_ARRAY = /^(?:copy|reshape|transpose|flatten|ravel|squeeze|clip|cumsum|cumprod)$/;

/** More than a number. */
export function isArray(expr: Expr, known: Known, depth = 0): boolean {
  const { file } = known;
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  const [param] = expr.kind === "Name" && made === null && known.given ? file.scopes.reaching(expr) : [];
  const handed = param?.how === "param" ? known.given!(param) : null;
  if (handed) return depth < 6 && isArray(handed.value, handed.around, depth + 1);
  // Made in one of several branches, or one of those that a function of this file hands out.
  if (expr.kind === "Name" && made === null && depth < 3)
    return isEvery(file.scopes.reaching(expr), known, (one) => isArray(one, known, depth + 1));
  const again = (one: Expr): boolean => depth < 6 && isArray(one, known, depth + 1);
  // The parts of one expression are as near as itself.
  const part = (one: Expr): boolean => depth < 6 && isArray(one, known, Math.max(depth, 1));
  if (made?.kind === "Binary")
    return (
      (made === expr ? part : again)(made.left) ||
      (made === expr ? part : again)(made.right) ||
      (depth === 0 && isOfTable(made, file))
    );
  if (made?.kind === "Unary") return (made === expr ? part : again)(made.operand);
  // `np.arange(n)[:, None]`
  if (made?.kind === "Subscript") return /^(?:Slice|Tuple)$/.test(made.index.kind) && again(made.value);
  // `np.array(kept).astype(float)`, `rows.reshape(n, -1)`, and a volume that nibabel has read.
  if (made?.kind === "Call" && made.func.kind === "Attribute" && file.dotted(made.func) === null)
    return (
      /^(?:astype|get_fdata)$/.test(made.func.attr) ||
      (SAME_ARRAY.test(made.func.attr) && again(made.func.value))
    );
  // What a function of this file hands back.
  const target = made?.kind === "Call" ? callTarget(made, file) : null;
  const returned = target === null ? undefined : file.once(returnsByName).get(target);
  if (returned) return returned.every(again);
  const name = made?.kind === "Call" ? (file.dotted(made.func) ?? "") : "";
  if (made?.kind !== "Call" || !name.startsWith("numpy.")) return false;
  // `np.random.uniform(0, 1)` is one, and so is a mean.
  if (name.startsWith("numpy.random."))
    return (
      keyword(made, "size") !== null ||
      made.args.length >
        (/^numpy\.random\.(?:rand|randn|random|random_sample|standard_normal)$/.test(name) ? 0 : 2)
    );
  return made.args.length > 0;
}

/** Whether something holds of all that a name may be: what each branch gives it, or what a function of this file hands out there. */
export function isEvery(
  definitions: readonly Definition[],
  { file }: Known,
  holds: (one: Expr) => boolean,
): boolean {
  return (
    definitions.length > 0 &&
    definitions.every(({ how, value, index }) => {
      if (how === "assign") return value !== null && holds(value);
      const target =
        how === "unpack" && value?.kind === "Call" && index !== null ? callTarget(value, file) : null;
      const returned = target === null ? undefined : file.once(returnsByName).get(target);
      return (
        returned !== undefined &&
        returned.length > 0 &&
        returned.every((one) => one.kind === "Tuple" && !!one.items[index!] && holds(one.items[index!]!))
      );
    })
  );
}

export function numpyCall(expr: Expr, known: Known): string {
  return expr.kind === "Call" && !keyword(expr, "dtype") ? (known.file.dotted(expr.func) ?? "") : "";
}

/** An array of integers. */
export function isWhole(expr: Expr, known: Known, depth = 0): boolean {
  if (depth > 8) return false;
  const again = (one: Expr): boolean => isWhole(one, known, depth + 1);
  // `len(counts) * counts`
  if (expr.kind === "Binary" && /^[-+*]$/.test(expr.op)) {
    const plain = (side: Expr): boolean =>
      (side.kind === "Num" && /^\d+$/.test(side.text)) ||
      (side.kind === "Call" && known.file.dotted(side.func) === "builtins.len");
    const [left, right] = [again(expr.left), again(expr.right)];
    return (left && (right || plain(expr.right))) || (right && plain(expr.left));
  }
  if (expr.kind === "Unary") return again(expr.operand);
  // `np.mgrid[0:h, 0:w]`
  if (expr.kind === "Subscript" && known.file.dotted(expr.value) === "numpy.mgrid")
    return !hasPoint(expr, known);
  // `np.arange(n)[:, None]`
  if (expr.kind === "Subscript") return expr.value.kind === "Call" && again(expr.value);
  // `cells.T`
  if (expr.kind === "Attribute") return expr.attr === "T" && again(expr.value);
  if (expr.kind === "Name") {
    const [one, ...more] = known.file.scopes.reaching(expr);
    const { how, value } = one ?? { how: null, value: null };
    if (more.length > 0 || !value) return false;
    // `xs, ys = np.meshgrid(np.arange(w), np.arange(h))`
    if (how === "unpack")
      return (
        (value.kind === "Call" &&
          /^numpy\.(?:meshgrid|indices)$/.test(numpyCall(value, known)) &&
          again(value)) ||
        (value.kind === "Subscript" && again(value))
      );
    return how === "assign" && (value.kind === "Call" || value.kind === "Attribute") && again(value);
  }
  const name = numpyCall(expr, known);
  if (expr.kind !== "Call") return false;
  if (/^numpy\.(?:arange|bincount|indices|random\.randint)$/.test(name)) return !hasPoint(expr, known);
  // In another shape, or several beside one another.
  if (SHAPED.test(name)) {
    const first = positional(expr, 0);
    const given = name === "numpy.meshgrid" ? expr.args.flatMap((arg) => (arg.name ? [] : [arg.value])) : [];
    const parts =
      given.length > 0
        ? given
        : first?.kind === "List" || first?.kind === "Tuple"
          ? first.items
          : first
            ? [first]
            : [];
    return parts.length > 0 && parts.every(again);
  }
  return (
    expr.func.kind === "Attribute" &&
    known.file.dotted(expr.func) === null &&
    /^(?:reshape|ravel|flatten|transpose|repeat|copy|squeeze|swapaxes)$/.test(expr.func.attr) &&
    again(expr.func.value)
  );
}

/** NumPy functions that only put what they are given in another place. */
const SHAPED =
  /^numpy\.(?:meshgrid|stack|concatenate|vstack|hstack|dstack|column_stack|tile|repeat|reshape|ravel|transpose|expand_dims|squeeze|roll|flip|broadcast_to|ascontiguousarray)$/;

/** Plainly an array of NumPy, of whatever type: `x.cpu().numpy()`, `np.array(rows)`, `self.rewards[chosen]` of these. */
export function isHostArray(expr: Expr, known: Known, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr | null): boolean => inner !== null && isHostArray(inner, known, depth + 1);
  if (expr.kind === "Name") return again(known.file.scopes.onlyValue(expr));
  const kept = keptUnder(expr, known);
  if (kept.length > 0) return kept.every(again);
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, known.file).get(own!)?.writes ?? []) : [];
  if (writes.length > 0) return writes.every(({ value }) => again(value));
  if (expr.kind !== "Call") return false;
  return (
    (known.file.dotted(expr.func) ?? "").startsWith("numpy.") ||
    (expr.func.kind === "Attribute" && /^(?:numpy|astype)$/.test(expr.func.attr))
  );
}

/** `np.arange(0, 1, 0.1)` */
function hasPoint(expr: Expr, known: Known): boolean {
  return /\d\.|\.\d|\de-|minlength=None/.test(known.file.textOf(expr));
}

export function isNumber(expr: Expr): boolean {
  return expr.kind === "Num" || (expr.kind === "Unary" && expr.operand.kind === "Num");
}

/** All that a class puts under a key of itself or of a dict of its own: `self["rewards"] = np.zeros(n)`, `self.data = {"rewards": …}`. */
export function keptUnder(expr: Expr, { file }: Known): readonly Expr[] {
  if (expr.kind !== "Subscript" || expr.index.kind !== "Str" || expr.index.value === null) return [];
  const key = expr.index.value;
  const own = selfAttribute(expr.value);
  const cls = own !== null || isSelf(expr.value) ? classOf(expr) : null;
  if (!cls) return [];
  const text = file.textOf(expr.value);
  const put = file
    .all("Assign")
    .flatMap(({ targets: [target], value }) =>
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.index.value === key &&
      classOf(target) === cls &&
      file.textOf(target.value) === text
        ? [value]
        : [],
    );
  const begun = own === null ? [] : (attributesOf(cls, file).get(own)?.writes ?? []);
  return [...put, ...begun.flatMap(({ value }) => (value?.kind === "Dict" ? (entry(value, key) ?? []) : []))];
}

/**
 * What a name was before `rows = np.roll(rows, n)` in a branch, or several such, each of which leaves an array its type: the
 * definitions that these in turn are of.
 */
export function beforeChanges(definitions: readonly Definition[], file: PythonFile): readonly Definition[] {
  if (definitions.length < 2) return definitions;
  const seen = new Set(definitions);
  for (const one of seen) {
    const of = changedOf(one, file);
    if (!of) continue;
    for (const before of file.scopes.reaching(of)) seen.add(before);
  }
  const found = [...seen].filter((one) => changedOf(one, file) === null);
  return found.length > 0 ? found : definitions;
}

/** The old `rows` of `rows = np.roll(rows, n)`. */
function changedOf({ how, name, value }: Definition, file: PythonFile): Name | null {
  if (how !== "assign" || value?.kind !== "Call" || keyword(value, "dtype")) return null;
  const of = /^numpy\.(?:flip(?:ud|lr)?|roll|rot90|transpose|ascontiguousarray)$/.test(
    file.dotted(value.func) ?? "",
  )
    ? positional(value, 0)
    : null;
  return of?.kind === "Name" && of.id === name ? of : null;
}
