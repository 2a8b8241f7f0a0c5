import { argument, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { returnsByName } from "./returns.ts";

/** What is known around an array. */
interface Known {
  readonly file: PythonFile;
  isTensor(expr: Expr): boolean;
}

/** What bytes are divided by, to lie between 0 and 1, or around 0. */
const SCALES: ReadonlySet<number> = new Set([255, 256, 127.5, 128]);

/** `episode["frames"][i] / 255.0 - 0.5`: the bytes of an image, which NumPy makes float64 when they are divided. */
export function isScaledFrame(item: Expr, known: Known): boolean {
  const scaled = scaledBy(item, known.file);
  return scaled !== null && (isOfArrays(scaled, known) || isImage(scaled, known));
}

/** `frames[at] / 255`, of rows of who knows what, unless these were cast before: who divides by that mostly has bytes there. */
export function isLikelyScaledFrame(item: Expr, known: Known): boolean {
  const scaled = scaledBy(item, known.file);
  const rows = scaled && (turnedOf(scaled, known.file) ?? scaled);
  return (
    rows?.kind === "Subscript" &&
    !known.isTensor(rows) &&
    !isNarrowed(rows, known.file) &&
    !isNarrowedOwn(rootOf(rows), known.file)
  );
}

/** What is divided by 255 there, in whatever order its parts are put then. */
function scaledBy(item: Expr, file: PythonFile, depth = 0): Expr | null {
  let at = item.kind === "Name" ? file.scopes.onlyValue(item) : item;
  // `2 * (image / 255) - 1`
  while (at?.kind === "Binary" && at.op !== "/")
    if (at.right.kind === "Num") at = at.left;
    else if (at.left.kind === "Num") at = at.right;
    else return null;
  const turned = at && depth < 4 ? turnedOf(at, file) : null;
  if (turned) return scaledBy(turned, file, depth + 1);
  return at?.kind === "Binary" &&
    at.op === "/" &&
    at.right.kind === "Num" &&
    SCALES.has(Number(at.right.text))
    ? at.left
    : null;
}

/** `scaled` of `scaled.transpose(2, 0, 1)` and `np.moveaxis(scaled, -1, 0)`: the same numbers in another order. */
function turnedOf(expr: Expr, file: PythonFile): Expr | null {
  if (expr.kind !== "Call" || keyword(expr, "dtype")) return null;
  const name = file.dotted(expr.func);
  if (name !== null) return TURNS.test(name) ? positional(expr, 0) : null;
  return expr.func.kind === "Attribute" && /^(?:transpose|copy|swapaxes)$/.test(expr.func.attr)
    ? expr.func.value
    : null;
}

const TURNS = /^numpy\.(?:ascontiguousarray|moveaxis|rollaxis|swapaxes|transpose|expand_dims|flip\w*|rot90)$/;

/** NumPy functions that leave bytes what they are. */
const SAME =
  /^numpy\.(?:array|asarray|ascontiguousarray|moveaxis|rollaxis|swapaxes|transpose|expand_dims|flip|fliplr|flipud|rot90|pad)$/;

/** NumPy functions that put several together. */
const JOINS = /^numpy\.(?:stack|concatenate|vstack|hstack)$/;

/** What reads images as bytes, and what changes those. */
const READS =
  /^(?:cv2\.(?:imread|imdecode|cvtColor|resize|flip|warpAffine|copyMakeBorder)|imageio\.(?:v[23]\.)?imread|skimage\.io\.imread)$/;

/** `np.moveaxis(image, -1, 0)`, `cv2.imread(path)`: who divides it by 255 has bytes there, unless they were cast above. */
function isImage(expr: Expr, known: Known): boolean {
  const { file } = known;
  if (expr.kind === "Name")
    return (
      !isNarrowed(expr, file) &&
      file.scopes
        .reaching(expr)
        .some(({ value }) => (value?.kind === "Call" || value?.kind === "Subscript") && isImage(value, known))
    );
  // `augment(image=image)["image"]`, as albumentations has it: bytes remain what they are.
  if (expr.kind === "Subscript") {
    const given = expr.value.kind === "Call" ? keyword(expr.value, "image")?.value : undefined;
    const isSame = expr.index.kind === "Str" && expr.index.value === "image";
    return isSame && given !== undefined ? isImage(given, known) : isOfOpened(expr.value, known);
  }
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func);
  if (name === null)
    return (
      expr.func.kind === "Attribute" &&
      (((/^(?:transpose|copy|swapaxes)$/.test(expr.func.attr) || isCastToBytes(expr, file)) &&
        isImage(expr.func.value, known)) ||
        isStoredTensor(expr.func, file))
    );
  // `np.stack([left, right])`, `np.stack([opened(path) for path in paths])`
  if (JOINS.test(name)) {
    const all = keyword(expr, "dtype") === null ? positional(expr, 0) : null;
    const parts = all?.kind === "Comp" ? [all.element] : all?.kind === "List" ? all.items : [];
    return parts.length > 0 && parts.every((part) => isImage(part, known));
  }
  // What a function of this file opens, and hands back as an array.
  const opened = file.once(returnsByName).get(name);
  if (opened)
    return opened.every((value) => value.kind === "Call" && isImage(value, known)) && !isNarrowed(expr, file);
  // `np.array(image, kind)` says the type of its result.
  const isTyped = keyword(expr, "dtype") !== null || (name.endsWith("array") && positional(expr, 1) !== null);
  return (READS.test(name) || (SAME.test(name) && !isTyped)) && !isNarrowed(expr, file);
}

/** `self.images`, opened one after the other when the dataset was made: `[np.array(Image.open(path)) for path in paths]`. */
function isOfOpened(expr: Expr, known: Known): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, known.file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ value }) => value?.kind === "Comp" && isImage(value.value ?? value.element, known))
  );
}

/** `self.data[index].numpy()`: as torchvision keeps the images of a small data set, in bytes; not of what was cast before. */
function isStoredTensor({ attr, value }: Attribute, file: PythonFile): boolean {
  return (
    attr === "numpy" &&
    value.kind === "Subscript" &&
    !/float\(/.test(file.textOf(value)) &&
    !isNarrowed(value, file) &&
    !isNarrowedOwn(rootOf(value), file)
  );
}

/** `self.data = data.float()` */
function isNarrowedOwn(whole: Expr, file: PythonFile): boolean {
  const own = selfAttribute(whole);
  const cls = own === null ? null : classOf(whole);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.some(({ value }) => value !== null && /float|half|randn?\(/.test(file.textOf(value)));
}

/** `np.array(image).astype(np.uint8)` */
function isCastToBytes({ func, args: [type] }: Call, file: PythonFile): boolean {
  return lastWord(func) === "astype" && type !== undefined && /\buint8\b/.test(file.textOf(type));
}

/** Somewhere behind it stands another type, or torch. */
function isNarrowed(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (NARROW.test(file.textOf(expr))) return true;
  if (expr.kind === "Call") return expr.args.some(({ value }) => isNarrowed(value, file, depth));
  if (expr.kind === "Subscript") return isNarrowed(expr.value, file, depth);
  return (
    expr.kind === "Name" &&
    depth < 4 &&
    file.scopes.reaching(expr).some(({ value }) => value !== null && isNarrowed(value, file, depth + 1))
  );
}

const NARROW = /float32|float16|single|half|torch|[tT]ensor/;

/** A part of what was read by NumPy, made of bytes, or has its other parts handed to NumPy: `np.zeros_like(episode["reward"])`. */
function isOfArrays(part: Expr, known: Known): boolean {
  const { file } = known;
  const whole = rootOf(part);
  if (whole === part || known.isTensor(part)) return false;
  const own = selfAttribute(whole);
  const cls = own === null ? null : classOf(whole);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (writes.length > 0)
    return writes.every(({ how, value }) => how === "assign" && value !== null && isReadOrBytes(value, file));
  if (whole.kind !== "Name") return false;
  const made = file.scopes.reaching(whole);
  if (made.some(({ value }) => value !== null && isReadOrBytes(value, file))) return true;
  return made.some((one) =>
    file.scopes.uses(one).some((use) => {
      let at: Expr = use;
      while (at.parent?.kind === "Subscript" && at.parent.value === at) at = at.parent;
      const call = at !== use && at.parent?.kind === "Arg" ? at.parent.parent : null;
      return call?.kind === "Call" && (file.dotted(call.func) ?? "").startsWith("numpy.");
    }),
  );
}

/** `frames` of `frames["left"][i]`. */
export function rootOf(expr: Expr): Expr {
  return expr.kind === "Subscript" ? rootOf(expr.value) : expr;
}

/** `np.load(path)["frames"]`, `np.zeros(shape, dtype=np.uint8)`, `self.store["frames"]` of `self.store = h5py.File(path)` */
function isReadOrBytes(value: Expr, file: PythonFile, depth = 0): boolean {
  const call = rootOf(value);
  const own = call === value ? null : selfAttribute(call);
  const cls = own === null ? null : classOf(call);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (writes.length > 0 && depth < 2)
    return writes.every((one) => one.value !== null && isReadOrBytes(one.value, file, depth + 1));
  if (call.kind !== "Call") return false;
  const name = file.dotted(call.func) ?? "";
  if (name === "numpy.load" || name === "h5py.File") return true;
  const type = argument(call, "dtype", 1);
  return /^numpy\.(?:zeros|empty|ones)$/.test(name) && type !== null && /uint8/.test(file.textOf(type));
}
