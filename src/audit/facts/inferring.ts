import type { PythonFile } from "../../python/file.ts";
import type { FunctionDef } from "../../python/tree.ts";
import type { ProjectFacts } from "./project.ts";
import { last } from "./torch-names.ts";

/** Methods by which a network is run to see what comes of it. */
const INFERS =
  /^_?(?:infer(?:ence)?|synthesi[sz]e|translate|transcribe|predict|reconstruct|sampl(?:e|ing)|generate|(?:get_)?score|test|caption|detect|denoise|stylize|recommend|embed|encode|decode)(?:_\w+)?$/;

/** Methods by which an agent's network is asked what to do. */
const ACTS = /^_?(?:act|explore|(?:select|choose|get|sample|predict|take)_actions?)$/;

/** Of a method that runs a network so: whether it leaves it to who calls it that nothing is recorded. */
export function infersRecorded(fn: FunctionDef, file: PythonFile): boolean | undefined {
  if (fn.parent?.kind !== "ClassDef" || !(INFERS.test(fn.name) || ACTS.test(fn.name))) return undefined;
  return !/_grad\b|inference_mode|autograd(?!\.(?:profiler|Variable)\b)|\.detach\(|\.data\b/.test(
    file.text.slice(fn.decorators[0]?.start ?? fn.start, fn.end),
  );
}

const known = new WeakMap<ProjectFacts, ReadonlyMap<string, boolean>>();

/** Whether all methods of the tree by this name, that of one which acts, leave it to their callers that nothing is recorded. */
export const recordsActing = (word: string, project: ProjectFacts): boolean =>
  ACTS.test(word) && recordingWords(project).get(word) === true;

/** By the last words of such methods as show what comes of a network, whether all of the tree that are called so leave it to their callers. */
export function inferringWords(project: ProjectFacts): {
  readonly get: (word: string) => boolean | undefined;
} {
  const words = recordingWords(project);
  return { get: (word) => (INFERS.test(word) ? words.get(word) : undefined) };
}

function recordingWords(project: ProjectFacts): ReadonlyMap<string, boolean> {
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
