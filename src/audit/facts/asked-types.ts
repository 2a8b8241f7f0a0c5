import type { PythonFile } from "../../python/file.ts";
import type { Expr, If } from "../../python/tree.ts";
import { MODULE, NUMBER, UNKNOWN, plain } from "./value.ts";
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

/** `loss.item() if torch.is_tensor(loss) else loss`: what is handed on as it is, is no tensor. */
export function isUnlessTensor({ test, orelse }: Expr & { kind: "IfExp" }, file: PythonFile): boolean {
  if (test.kind !== "Call" || !/^(?:Name|Attribute|Subscript)$/.test(orelse.kind)) return false;
  const [of, type] = test.args;
  if (!of || file.textOf(of.value) !== file.textOf(orelse)) return false;
  const asked = file.dotted(test.func);
  return (
    asked === "torch.is_tensor" ||
    (asked === "builtins.isinstance" && type !== undefined && file.dotted(type.value) === "torch.Tensor")
  );
}

/** What a parameter is said to be. */
export function annotated(file: PythonFile, annotation: Expr): Value {
  // `Optional[torch.Tensor]`, `torch.Tensor | None`
  if (annotation.kind === "Subscript" && /^(?:typing\.)?Optional$/.test(file.textOf(annotation.value)))
    return annotated(file, annotation.index);
  if (annotation.kind === "Binary" && annotation.op === "|" && annotation.right.kind === "Const")
    return annotated(file, annotation.left);
  const name = annotation.kind === "Str" ? annotation.value : file.dotted(annotation);
  if (name === null) return UNKNOWN;
  if (name.endsWith("Tensor") && /(?:^|\.)\w*$/.test(name))
    return { what: "tensor", device: "unknown", graph: "unknown" };
  if (name === "builtins.int" || name === "builtins.float" || name === "builtins.bool") return NUMBER;
  if (name === "builtins.str") return plain("string");
  if (name === "torch.nn.Module") return MODULE;
  return UNKNOWN;
}
