import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { returnsByName } from "./returns.ts";

/** What images, sounds and arrays are read with. */
const READERS = ["load", "imread", "open", "read", "read_image", "read_video", "ReadImage", "dcmread"];
const LIBRARIES =
  /^(?:torch(?:audio|vision\.io)?|numpy|PIL\.Image|cv2|librosa|soundfile|nibabel|pydicom|SimpleITK|tifffile|rasterio|imageio(?:\.v[23])?|skimage\.io|scipy\.io\.wavfile)\.\w+$/;

/** A part of what was read, or a measure of it, is no example. */
const MEASURES = /^(?:size|dim|numel|item|sum|mean|max|min|any|all|keys|get|load_state_dict|close)$/;

/** Functions that read an example from a file and hand it back: `return torchaudio.load(path)`. */
export function openers(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  for (const reader of READERS)
    for (const call of file.callsNamed(reader)) {
      const fn = functionOf(call);
      if (fn?.kind !== "FunctionDef" || found.has(fn) || !LIBRARIES.test(file.dotted(call.func) ?? ""))
        continue;
      const returned = file.once(returnsByName).get(file.qualified(fn));
      if (returned?.some((value) => isMadeOf(value, call, file, 0))) found.add(fn);
    }
  return found;
}

/** The reading itself, or what is computed of it through names, methods and calls. */
function isMadeOf(expr: Expr, read: Call, file: PythonFile, depth: number): boolean {
  if (expr === read) return true;
  if (depth > 8) return false;
  const again = (inner: Expr): boolean => isMadeOf(inner, read, file, depth + 1);
  switch (expr.kind) {
    case "Name":
      return file.scopes
        .reaching(expr)
        .some(({ how, value }) => value !== null && /^(?:assign|unpack|with)$/.test(how) && again(value));
    case "Tuple":
      return expr.items.some(again);
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Subscript":
      return expr.index.kind !== "Str" && again(expr.value);
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
