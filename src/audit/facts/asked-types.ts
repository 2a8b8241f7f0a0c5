import type { PythonFile } from "../../python/file.ts";
import type { If } from "../../python/tree.ts";
import { NUMBER, plain } from "./value.ts";
import type { Value } from "./value.ts";

const COLLECTIONS = /^\(?(?:(?:list|tuple|dict|set|Sequence|Mapping)(?:, ?|\)?$))+$/;
const NUMBERS = /^\(?(?:(?:float|int|bool|numbers\.Number|Number)(?:, ?|\)?$))+$/;

/** `if isinstance(x, list):` says what x is below it. */
interface Asked {
  readonly test: If;
  readonly what: Value;
}

/** By the names of what is asked. */
export function typesAskedFor(file: PythonFile): ReadonlyMap<string, readonly Asked[]> {
  const found = new Map<string, Asked[]>();
  for (const call of file.callsNamed("isinstance")) {
    const [of, type] = call.args;
    const test = call.parent;
    if (of?.value.kind !== "Name" || !type || test?.kind !== "If") continue;
    const text = file.textOf(type.value);
    const what = COLLECTIONS.test(text) ? plain("container") : NUMBERS.test(text) ? NUMBER : null;
    if (what) found.set(of.value.id, [...(found.get(of.value.id) ?? []), { test, what }]);
  }
  return found;
}
