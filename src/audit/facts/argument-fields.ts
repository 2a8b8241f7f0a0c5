import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Assign, Expr } from "../../python/tree.ts";

/** What a script makes its own: the arguments of a training by transformers, and by trl, whose own defaults are others. */
const OF_TRANSFORMERS = /^transformers\.(?:\w+\.)*\w*TrainingArguments$/;
const OF_TRL = /^trl\.(?:\w+\.)*\w+Config$/;

/** A setting of such arguments, and what it is unless someone asks otherwise. */
interface ArgumentField {
  readonly at: Assign;
  readonly value: Expr;
}

/** `fsdp: str = field(default="full_shard")` and `fsdp: str = "full_shard"` in a class of training arguments of this file. */
export function argumentFields(file: PythonFile, name: string, trl = true): readonly ArgumentField[] {
  if (!file.mentions(name)) return [];
  const isOne = (base: string): boolean => OF_TRANSFORMERS.test(base) || (trl && OF_TRL.test(base));
  return file
    .all("ClassDef")
    .filter(({ args }) => args.some(({ value }) => isOne(file.dotted(value) ?? "")))
    .flatMap(({ body }) => body)
    .flatMap((at): ArgumentField[] => {
      const [target] = at.kind === "Assign" ? at.targets : [];
      if (at.kind !== "Assign" || target?.kind !== "Name" || target.id !== name) return [];
      const value = at.value.kind === "Call" ? (keyword(at.value, "default")?.value ?? null) : at.value;
      return value ? [{ at, value }] : [];
    });
}
