import { contains, lastWord, walk } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** What makes it expensive: a tokenizer, an image, a tensor for each example. */
export const WORKS =
  /tokeniz|process|transform|Image\.open|imread|encode(?!r\w*Config)|torch\.tensor|load_(?:file|pair|sample|clip|frame)\w*$|(?:load|read)_(?:rgb|img|image|wav|audio|video|mel|spec|nii|npz|npy|ply|pcd|points|point_?cloud|mesh|voxel|volume|dicom|dcm|tiff?|exr|depth|flow)\w*$|torchaudio|np\.load|numpy\.load|torch\.load|librosa|nibabel|pydicom|SimpleITK|tifffile|rasterio|soundfile|imageio|cv2\.|spectrogram|read_video|VideoReader|decord|from_numpy|\.convert$|^(?:self\.)?(?:tok|loader|load_(?:fn|func))$/i;

/** What makes the transform itself, not an example of another. */
const MAKES = /^(?:create|make|build|get)_\w*transforms?$/;

/** Whether an example is read from a file, or made of one, somewhere in it. */
export function works(expr: Node, facts: Facts): boolean {
  let found = false;
  walk(expr, (node) => {
    if (
      node.kind === "Call" &&
      !MAKES.test(lastWord(node.func)) &&
      (WORKS.test(facts.file.dotted(node.func) ?? facts.file.textOf(node.func).slice(0, 80)) ||
        // A function of the tree that reads a file.
        (facts.callee(node)?.opens ?? null) !== null)
    )
      found = true;
    // `file["images"][i]`
    if (node.kind === "Subscript" && isOfFile(node.value, facts)) found = true;
    return !found && !isMeasure(node);
  });
  return found;
}

/** A dataset in an open file: `file["images"]`, of `with h5py.File(path) as file:`. */
function isOfFile(expr: Expr, { file }: Facts): boolean {
  const [one, ...more] =
    expr.kind === "Subscript" && expr.index.kind === "Str" && expr.value.kind === "Name"
      ? file.scopes.reaching(expr.value)
      : [];
  return one?.value?.kind === "Call" && more.length === 0 && file.dotted(one.value.func) === "h5py.File";
}

/** `image.shape`, `image.size`: of an example that is not kept. */
function isMeasure(node: Node): boolean {
  return node.kind === "Attribute" && /^(?:shape|size|width|height|ndim)$/.test(node.attr);
}

/** What is put into the list is what was worked out, through names of the same loop. */
export function isWorked(expr: Expr, loop: Node, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  // `self.volumes[key] = np.array(file[key])`
  if (
    expr.kind === "Call" &&
    facts.file.mentions("h5py") &&
    /^numpy\.(?:as)?array$/.test(facts.file.dotted(expr.func) ?? "") &&
    expr.args[0]?.value.kind === "Subscript"
  )
    return true;
  // A count or an index is no example.
  if (facts.value(expr).what === "number") return false;
  if (works(expr, facts)) return true;
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node))
        if (
          one.value &&
          one.how !== "iterate" &&
          contains(loop, one.node) &&
          isWorked(one.value, loop, facts, depth + 1)
        )
          found = true;
    return !found && !isMeasure(node);
  });
  return found;
}
