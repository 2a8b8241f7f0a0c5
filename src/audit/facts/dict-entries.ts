import type { PythonFile } from "../../python/file.ts";
import type { Expr, Subscript } from "../../python/tree.ts";
import { entry } from "./arguments.ts";
import { assignsOfKind } from "./assigns.ts";

/** `{}`, `dict()` */
export function isDict(made: Expr | null, file: PythonFile): boolean {
  return (
    made?.kind === "Dict" ||
    (made?.kind === "Call" &&
      /^(?:builtins\.dict|collections\.OrderedDict)$/.test(file.dotted(made.func) ?? ""))
  );
}

/** What is put into the dict that is read, by its name, under the key. */
export function putInto({ value: read }: Subscript, key: string, file: PythonFile): readonly Expr[] {
  const scope = read.kind === "Name" ? file.scopes.lookup(read)?.scope : undefined;
  const isIt = (dict: Expr): boolean =>
    dict.kind === "Name" &&
    read.kind === "Name" &&
    dict.id === read.id &&
    file.scopes.lookup(dict)?.scope === scope;
  return putUnder(key, file, isIt);
}

/** `pack["batches"]` of one of several packs: what every dict that this file writes down has under the key. */
export function underKey(key: string, file: PythonFile): readonly Expr[] {
  return [...file.all("Dict").flatMap((dict) => entry(dict, key) ?? []), ...putUnder(key, file, () => true)];
}

function putUnder(key: string, file: PythonFile, isIt: (dict: Expr) => boolean): readonly Expr[] {
  return assignsOfKind("Subscript", file).flatMap(({ targets, value }) =>
    targets.some(
      (target) =>
        target.kind === "Subscript" &&
        target.index.kind === "Str" &&
        target.index.value === key &&
        isIt(target.value),
    )
      ? [value]
      : [],
  );
}
