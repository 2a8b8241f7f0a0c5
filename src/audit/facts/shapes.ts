import { argument, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";

const COLLATORS = /^DataCollator/;

const DETECTORS = /rcnn|retinanet|fcos/;

/** Batches padded to their own longest member, or resized at random or by their own sides: each is a new shape. */
export function shapesVary(file: PythonFile): boolean {
  return (
    file
      .callsNamed("pad_sequence", "pack_padded_sequence")
      .some((call) =>
        /^torch\.nn\.utils\.rnn\.(?:pad_sequence|pack_padded_sequence)$/.test(file.dotted(call.func) ?? ""),
      ) ||
    file.calls
      .matching(COLLATORS)
      .some((call) =>
        /^transformers\.DataCollator(?:WithPadding|ForSeq2Seq|ForTokenClassification|CTCWithPadding)$/.test(
          file.dotted(call.func) ?? "",
        ),
      ) ||
    file.calls.given(["padding"]).some((call) => {
      const { value } = keyword(call, "padding")!;
      if (value.kind === "Str") return value.value === "longest";
      // `processor(text=texts, images=images, padding=True, return_tensors="pt")`
      return isTrue(value) && keyword(call, "return_tensors") !== null;
    }) ||
    // Detectors resize each image by its own sides.
    file.calls
      .matching(DETECTORS)
      .some((call) => /^torchvision\.models\.detection\.\w+$/.test(file.dotted(call.func) ?? "")) ||
    file
      .callsNamed("interpolate", "upsample", "resize", "center_crop")
      .some(
        (call) =>
          isRandomResize(call, file) || isResizedBySide(call, file) || isImageResizedBySide(call, file),
      ) ||
    file.all("FunctionDef").some((fn) => isCollate(fn, file) && padsToLongest(fn, file))
  );
}

const RESIZES =
  /^(?:torch\.nn\.functional\.(?:interpolate|upsample)|torchvision\.transforms\.(?:v2\.)?functional\.(?:resize|center_crop))$/;

function sizesOf(call: Call, file: PythonFile): readonly Expr[] {
  return RESIZES.test(file.dotted(call.func) ?? "")
    ? call.args.flatMap(({ name, value }, at) =>
        name === "size" || name === "scale_factor" || (name === null && (at === 1 || at === 2))
          ? [value]
          : [],
      )
    : [];
}

export function isRandomResize(call: Call, file: PythonFile): boolean {
  return sizesOf(call, file).some((size) => isRandom(size, file, 0));
}

/** By `min(shortest / h, longest / w)`: another size for each image. */
function isResizedBySide(call: Call, file: PythonFile): boolean {
  return sizesOf(call, file).some((size) => isRatio(size, file, 0));
}

/** The same by `cv2.resize`, `skimage.transform.resize` or `image.resize`; where something is cut or padded, all may become one size again. */
function isImageResizedBySide(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func);
  const size =
    name === null
      ? call.func.kind === "Attribute" && call.func.attr === "resize"
        ? argument(call, "size", 0)
        : null
      : /^cv2\.resize$|^skimage\.transform\.(?:\w+\.)?resize$/.test(name)
        ? positional(call, 1)
        : null;
  return size !== null && isRatio(size, file, 0) && !file.says(ONE_SIZE);
}

const ONE_SIZE = /crop|pad(?!ding_mode)|border|paste|letterbox|canvas/i;

function isRatio(expr: Expr, file: PythonFile, depth: number): boolean {
  if (depth > 8) return false;
  const again = (inner: Expr): boolean => isRatio(inner, file, depth + 1);
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.some(again);
  if (expr.kind === "Comp") return again(expr.element);
  if (expr.kind === "Binary")
    return (
      again(expr.left) ||
      again(expr.right) ||
      (expr.op === "/" && isOfSides(expr.right, file) && !file.says(ONE_SIZE))
    );
  if (expr.kind === "Name")
    return file.scopes
      .reaching(expr)
      .some(({ how, value }) => how === "assign" && value !== null && again(value));
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func) ?? "";
  if (/^builtins\.(?:min|max)$/.test(name))
    return (
      expr.args.length === 2 &&
      expr.args.every(({ value }) => {
        const side = (value.kind === "Name" ? file.scopes.onlyValue(value) : null) ?? value;
        return side.kind === "Binary" && side.op === "/";
      })
    );
  return (
    /^(?:builtins\.(?:int|round)|math\.(?:ceil|floor))$/.test(name) &&
    expr.args.some(({ value }) => again(value))
  );
}

/** `min(h, w)`, `max(image.shape[:2])`, also under a name. */
function isOfSides(expr: Expr, file: PythonFile): boolean {
  const sides = (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
  return (
    sides.kind === "Call" &&
    /^builtins\.(?:min|max)$/.test(file.dotted(sides.func) ?? "") &&
    /^(?:min|max)\((?:\w*[hw]\w*, \w*[hw]\w*|\*?[\w.]*\.(?:size|shape)\b[^,]*)\)$/i.test(file.textOf(sides))
  );
}

export function isRandom(expr: Expr, file: PythonFile, depth: number): boolean {
  if (depth > 8) return false;
  if (expr.kind === "Tuple" || expr.kind === "List")
    return expr.items.some((item) => isRandom(item, file, depth + 1));
  if (expr.kind === "Name")
    return file.scopes.reaching(expr).some(({ value }) => value !== null && isRandom(value, file, depth + 1));
  if (expr.kind === "Binary")
    return isRandom(expr.left, file, depth + 1) || isRandom(expr.right, file, depth + 1);
  if (expr.kind === "Subscript")
    return isRandom(expr.value, file, depth + 1) || isRandom(expr.index, file, depth + 1);
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func) ?? "";
  if (/^(?:random|numpy\.random)\.|^torch\.(?:randint|rand|randperm)$/.test(name)) return true;
  // `int(torch.randint(…))`, `torch.randint(…).item()`.
  if (name === "builtins.int")
    return expr.args[0] !== undefined && isRandom(expr.args[0].value, file, depth + 1);
  return expr.func.kind === "Attribute" && /^(?:item|tolist|choice|integers)$/.test(expr.func.attr)
    ? isRandom(expr.func.value, file, depth + 1)
    : false;
}

/** Named so, handed to a loader as its `collate_fn`, or called by a class that is. */
function isCollate(fn: FunctionDef, file: PythonFile): boolean {
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent.name : "";
  return (
    /collate|pad_batch|make_batch/i.test(fn.name) ||
    (fn.name === "__call__" && /collat|pad/i.test(cls)) ||
    file.calls.given(["collate_fn"]).some((call) => {
      const given = keyword(call, "collate_fn")!.value;
      return given.kind === "Name" && file.dotted(given) === file.qualified(fn);
    })
  );
}

/** `max(len(x) for x in batch)`, or of a list of lengths; `min` where the batch is cut to its shortest. */
function padsToLongest(fn: FunctionDef, file: PythonFile): boolean {
  return file
    .callsNamed("max", "min")
    .some(
      (call) =>
        contains(fn, call) &&
        (/^builtins\.m(?:ax|in)$/.test(file.dotted(call.func) ?? "") || call.func.kind === "Attribute") &&
        /len|size|shape/i.test(file.textOf(call)),
    );
}
