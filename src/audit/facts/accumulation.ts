import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, walk } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";

/** Under `step % args.accumulation_steps == 0`, where that is 1 unless someone asks for more: nothing accumulates. */
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

/** A setting or parameter of this name that is 1 by default. */
function isOneByDefault(by: Expr, file: PythonFile): boolean {
  const name = by.kind === "Attribute" ? by.attr : by.kind === "Name" ? by.id : null;
  if (name === null) return false;
  const isOne = (value: Expr | null | undefined): boolean => value?.kind === "Num" && value.text === "1";
  return (
    file
      .callsNamed("add_argument")
      .some(
        (call) =>
          isOne(keyword(call, "default")?.value) &&
          call.args.some(({ value }) => value.kind === "Str" && optionName(value.value) === name),
      ) ||
    file.all("Param").some((param) => param.name === name && isOne(param.default)) ||
    file
      .all("AnnAssign")
      .some(({ target, value }) => target.kind === "Name" && target.id === name && isOne(value))
  );
}

function optionName(flag: string | null): string {
  return (flag ?? "").replace(/^-+/, "").replaceAll("-", "_");
}
