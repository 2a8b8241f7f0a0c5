import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { callsOf, returnsByName } from "./returns.ts";

/** How much a function reads: an example, or in a loop all that it is given or finds. */
export type Reads = "one" | "many";

/** What images, sounds and arrays are read with. */
const READERS = [
  "load",
  "imread",
  "open",
  "read",
  "read_image",
  "read_video",
  "ReadImage",
  "dcmread",
  "fromfile",
  "loadmat",
  "read_point_cloud",
  "read_triangle_mesh",
];
const LIBRARIES =
  /^(?:torch(?:audio|vision\.io)?|numpy|PIL\.Image|cv2|librosa|soundfile|nibabel|pydicom|SimpleITK|tifffile|rasterio|imageio(?:\.v[23])?|skimage\.io|scipy\.io(?:\.wavfile)?|open3d\.io|trimesh|laspy|(?:\w+\.)*plyfile\.PlyData)\.\w+$/;

/** A part of what was read, or a measure of it, is no example. */
const MEASURES = /^(?:size|dim|numel|item|sum|mean|max|min|any|all|keys|get|load_state_dict|close)$/;

/** What is the example itself of an object that a library made of the file. */
const CONTENTS = /^(?:m?T|data|dataobj|pixel_array|points|vertices|xyz|elements)$/;

/** `np.load(path)["labels"]` is small, and wanted; a checkpoint's parts are no examples at all. */
const SMALL = /label|class|targ|categ|name|meta|len|shape|size|id$/i;

/** Functions that read examples from files and hand them back: `return torchaudio.load(path)`. */
export function openers(file: PythonFile): ReadonlyMap<FunctionDef, Reads> {
  const found = new Map<FunctionDef, Reads>();
  const ask = (call: Call, reads: Reads): void => {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || found.has(fn)) return;
    const returned = file.once(returnsByName).get(file.qualified(fn));
    if (returned?.some((value) => isMadeOf(value, call, file, 0)))
      found.set(fn, isRepeated(call, fn) ? "many" : reads);
  };
  for (const reader of READERS)
    for (const call of file.callsNamed(reader))
      if (LIBRARIES.test(file.dotted(call.func) ?? "")) ask(call, "one");
  // `def load_points(path): return normalize(read_ply(path))`, of what another one here read.
  for (const [fn, reads] of found) for (const call of callsOf(fn, file)) ask(call, reads);
  return found;
}

/** In a loop of its function, or in a comprehension. */
function isRepeated(call: Call, fn: FunctionDef): boolean {
  return ancestors(call).some((at) => (at.kind === "For" || at.kind === "Comp") && contains(fn, at));
}

/** The reading itself, or what is computed of it through names, methods and calls. */
function isMadeOf(expr: Expr, read: Call, file: PythonFile, depth: number): boolean {
  if (expr === read) return true;
  if (depth > 12) return false;
  const again = (inner: Expr): boolean => isMadeOf(inner, read, file, depth + 1);
  switch (expr.kind) {
    case "Name":
      return file.scopes
        .reaching(expr)
        .some(
          (one) =>
            one.value !== null &&
            /^(?:assign|unpack|with)$/.test(one.how) &&
            (isBegun(one.value) ? file.scopes.uses(one).flatMap(appendedTo).some(again) : again(one.value)),
        );
    case "Tuple":
    case "List":
      return expr.items.some(again);
    case "Comp":
      return again(expr.element);
    case "Attribute":
      return CONTENTS.test(expr.attr) && again(expr.value);
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Subscript":
      return (
        (expr.index.kind !== "Str" ||
          (!SMALL.test(expr.index.value ?? "") &&
            file.dotted(read.func)?.startsWith("torch.load") === false)) &&
        again(expr.value)
      );
    case "Call":
      return (
        (expr.func.kind === "Attribute" && !MEASURES.test(expr.func.attr) && again(expr.func.value)) ||
        (file.dotted(expr.func)?.startsWith("builtins.") !== true &&
          expr.args.some(({ value }) => again(value)))
      );
    default:
      return false;
  }
}

/** `images = []` */
function isBegun(value: Expr): boolean {
  return value.kind === "List" && value.items.length === 0;
}

/** What `images.append(…)` puts in. */
function appendedTo({ parent }: Name): readonly Expr[] {
  const call = parent?.kind === "Attribute" && parent.attr === "append" ? parent.parent : null;
  return call?.kind === "Call" ? call.args.map(({ value }) => value) : [];
}
