import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Expr, Name } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/** Made narrower, or no number with a fraction. */
const CAST =
  /astype|dtype|float32|float16|\.(?:float|half|long|int|bool|byte|type|to)\(|(?:Float|Long|Bool|Int)Tensor|uint8|int\(|len\(/;

/** Made float32: whoever does so has seen that it is not. */
const NARROWED =
  /astype\(\s*(?:np\.|numpy\.)?["']?(?:float32|single)\b|dtype\s*=\s*(?:np\.|numpy\.|torch\.)?["']?float32\b|FloatTensor\(|\.float\(\)|np\.float32\(/;

/**
 * `votes` of `return {"points": points.astype(np.float32), "votes": votes}`, both read from files that NumPy wrote: the one beside it
 * had to be cast, and into this one numbers with fractions are written as well.
 */
export function leftUncast(entries: readonly Expr[], facts: Facts): readonly Expr[] {
  const { file } = facts;
  if (!entries.some((item) => NARROWED.test(file.textOf(item)))) return [];
  return entries.filter((item) => {
    const array = arrayOf(item, file);
    return array !== null && !CAST.test(file.textOf(item)) && isReadUncast(array, file);
  });
}

/** `votes` of `votes[chosen]`, of `torch.from_numpy(votes)`, of `votes.copy()`. */
function arrayOf(item: Expr, file: PythonFile): Name | null {
  if (item.kind === "Name") return item;
  if (item.kind === "Subscript") return arrayOf(item.value, file);
  if (item.kind !== "Call") return null;
  const name = file.dotted(item.func);
  if (name === null)
    return item.func.kind === "Attribute" && SAME.test(item.func.attr)
      ? arrayOf(item.func.value, file)
      : null;
  const [first, ...more] = item.args;
  return first && more.length === 0 && TAKES.test(name) ? arrayOf(first.value, file) : null;
}

const SAME = /^(?:copy|reshape|transpose|squeeze|flatten|ravel|clip)$/;
const TAKES = /^(?:torch\.(?:from_numpy|tensor|as_tensor)|numpy\.(?:array|asarray|ascontiguousarray))$/;

/** What reads numbers as they were written. */
const READS =
  /^(?:numpy\.(?:load|loadtxt|genfromtxt|fromfile)|scipy\.io\.loadmat|h5py\.File|pandas\.read_\w+|pickle\.load)$/;

/** Read from a file, cast nowhere on the way, and written into with fractions. */
function isReadUncast(array: Name, file: PythonFile): boolean {
  const fn = functionOf(array);
  const made = (file.scopes.lookup(array)?.definitions ?? []).filter(({ value }) => value !== null);
  return (
    made.length > 0 &&
    made.every(
      ({ how, value }) => (how === "assign" || how === "augment") && !CAST.test(file.textOf(value!)),
    ) &&
    made.some(({ value }) => reads(value!, file)) &&
    [...file.all("Assign"), ...file.all("AugAssign")].some((one) => {
      if (functionOf(one) !== fn) return false;
      const target = one.kind === "AugAssign" ? one.target : one.targets[0]!;
      const into = target.kind === "Subscript" ? target.value : target;
      if (into.kind !== "Name" || into.id !== array.id) return false;
      return (one.kind === "AugAssign" && /^[*/]/.test(one.op)) || hasFractions(one.value);
    })
  );
}

/** `np.load(path)["votes"]`, `json.load(f)["x"]` being lists. */
function reads(value: Expr, file: PythonFile): boolean {
  let found = false;
  walk(value, (node) => {
    found ||= node.kind === "Call" && READS.test(file.dotted(node.func) ?? "");
    return !found;
  });
  return found;
}

/** Divided, turned by a matrix, moved by a number with a point. */
function hasFractions(value: Expr): boolean {
  let found = false;
  walk(value, (node) => {
    found ||=
      (node.kind === "Binary" && (node.op === "/" || node.op === "@")) ||
      (node.kind === "Num" && /[.]/.test(node.text)) ||
      (node.kind === "Call" &&
        /^(?:dot|matmul|sin|cos|exp|log|sqrt|normal|uniform|randn|rand)$/.test(lastWord(node.func)));
    return !found && node.kind !== "Subscript";
  });
  return found && namesIn(value).length > 0;
}
