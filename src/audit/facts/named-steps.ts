import type { FunctionFacts, ProjectFacts } from "./project.ts";

const steppers = new WeakMap<ProjectFacts, ReadonlyMap<string, readonly FunctionFacts[]>>();

/** By the last word of their names: the functions of the tree that take a step. */
export function stepsByWord(project: ProjectFacts): ReadonlyMap<string, readonly FunctionFacts[]> {
  let found = steppers.get(project);
  if (!found) {
    const words = new Map<string, FunctionFacts[]>();
    for (const [name, facts] of project.functions) {
      if (!facts.loose) continue;
      const word = name.slice(name.lastIndexOf(".") + 1);
      words.set(word, [...(words.get(word) ?? []), facts]);
    }
    steppers.set(project, (found = words));
  }
  return found;
}
