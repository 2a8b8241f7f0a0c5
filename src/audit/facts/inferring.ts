import type { PythonFile } from "../../python/file.ts";
import type { FunctionDef } from "../../python/tree.ts";
import type { ProjectFacts } from "./project.ts";
import { last } from "./torch-names.ts";

/** Methods by which a network is run to see what comes of it. */
const INFERS =
  /^_?(?:infer(?:ence)?|synthesi[sz]e|translate|transcribe|predict|reconstruct|sampl(?:e|ing)|generate|(?:get_)?score|test|caption|detect|denoise|stylize|recommend|embed|encode|decode)(?:_\w+)?$/;

/** Of a method that runs a network so: whether it leaves it to who calls it that nothing is recorded. */
export function infersRecorded(fn: FunctionDef, file: PythonFile): boolean | undefined {
  if (fn.parent?.kind !== "ClassDef" || !INFERS.test(fn.name)) return undefined;
  return !/_grad\b|inference_mode|autograd(?!\.(?:profiler|Variable)\b)|\.detach\(|\.data\b/.test(
    file.text.slice(fn.decorators[0]?.start ?? fn.start, fn.end),
  );
}

const known = new WeakMap<ProjectFacts, ReadonlyMap<string, boolean>>();

/** By the last words of such methods, whether all of the tree that are called so leave it to their callers. */
export function inferringWords(project: ProjectFacts): ReadonlyMap<string, boolean> {
  let found = known.get(project);
  if (!found) {
    const words = new Map<string, boolean>();
    for (const [name, { infers }] of project.functions) {
      if (infers === null) continue;
      const word = last(name);
      words.set(word, infers && words.get(word) !== false);
    }
    known.set(project, (found = words));
  }
  return found;
}
