import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, walk } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";

/** What people call the number of micro-steps before a step. */
export const MICRO_STEPS = /acc(?:um|_)|micro/i;

/** Under `step % args.accumulation_steps == 0`, where that is, or may well be, 1 unless someone asks for more: nothing accumulates. */
export function countsToOne(step: Node, loop: Node, file: PythonFile): boolean {
  for (const at of ancestors(step)) {
    if (at === loop) return false;
    if (at.kind !== "If") continue;
    let by: Expr | null = null;
    walk(at.test, (node) => {
      if (node.kind === "Binary" && node.op === "%") by = node.right;
    });
    if (by) return isOneByDefault(by, file);
  }
  return false;
}

/** A setting of which this file does not say that it is more than 1 by default, or a parameter that is 1. */
export function isOneByDefault(by: Expr, file: PythonFile): boolean {
  const name = by.kind === "Attribute" ? by.attr : by.kind === "Name" ? by.id : null;
  if (name === null) return false;
  const defaults = [
    ...file
      .callsNamed("add_argument")
      .filter((call) =>
        call.args.some(({ value }) => value.kind === "Str" && optionName(value.value) === name),
      )
      .map((call) => keyword(call, "default")?.value),
    ...file
      .all("Param")
      .filter((param) => param.name === name)
      .map((param) => param.default),
    ...file
      .all("Assign")
      .filter(
        ({ annotation, targets: [target] }) => annotation && target?.kind === "Name" && target.id === name,
      )
      .map(({ value }) => value),
  ].filter((value) => value !== null && value !== undefined);
  if (defaults.some((value) => value.kind === "Num" && value.text === "1")) return true;
  return by.kind === "Attribute" && defaults.length === 0;
}

function optionName(flag: string | null): string {
  return (flag ?? "").replace(/^-+/, "").replaceAll("-", "_");
}
