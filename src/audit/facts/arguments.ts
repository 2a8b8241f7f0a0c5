import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { entry, literalDict } from "./checkpointing.ts";

/** What a call is given by name, also through `**settings` where these are a dict written out. */
export function given(call: Call, name: string, file: PythonFile): Expr | null {
  const direct = keyword(call, name);
  if (direct) return direct.value;
  for (const { star, value } of call.args) {
    const dict = star === 2 ? literalDict(value, file) : null;
    const found = dict && entry(dict, name);
    if (found) return found;
  }
  return null;
}

/** Whether `*args`, or `**settings` that cannot be read, may pass what is not seen. */
export function hidesArguments(call: Call, file: PythonFile): boolean {
  return call.args.some(({ star, value }) => star === 1 || (star === 2 && literalDict(value, file) === null));
}
