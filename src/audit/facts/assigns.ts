import type { PythonFile } from "../../python/file.ts";
import type { Assign, Expr } from "../../python/tree.ts";

/** Assignments of which a target is of this kind, in source order. Most are to plain names, and many a rule is about the others. */
export function assignsOfKind(kind: Exclude<Expr["kind"], "Name">, file: PythonFile): readonly Assign[] {
  return file.once(byTarget).get(kind) ?? NONE;
}

/** Assignments of which a target is more than a plain name, in source order. */
export function assignsBeyondNames(file: PythonFile): readonly Assign[] {
  return file.once(beyondNames);
}

function beyondNames(file: PythonFile): readonly Assign[] {
  return file.all("Assign").filter(({ targets }) => {
    for (let at = 0; at < targets.length; at++) if (targets[at]!.kind !== "Name") return true;
    return false;
  });
}

function byTarget(file: PythonFile): ReadonlyMap<Expr["kind"], readonly Assign[]> {
  const found = new Map<Expr["kind"], Assign[]>();
  for (const statement of assignsBeyondNames(file))
    for (const { kind } of statement.targets) {
      const list = found.get(kind);
      if (!list) found.set(kind, [statement]);
      else if (list[list.length - 1] !== statement) list.push(statement);
    }
  return found;
}

const NONE: readonly Assign[] = [];
