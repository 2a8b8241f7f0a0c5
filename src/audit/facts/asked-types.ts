import type { PythonFile } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Expr, Name, Stmt } from "../../python/tree.ts";
import { MODULE, NUMBER, UNKNOWN, plain } from "./value.ts";
import type { Value } from "./value.ts";

const COLLECTIONS = /^\(?(?:(?:list|tuple|dict|set|Sequence|Mapping)(?:, ?|\)?$))+$/;
const NUMBERS = /^\(?(?:(?:float|int|bool|numbers\.Number|Number)(?:, ?|\)?$))+$/;

/** `if isinstance(x, list):` says what x is below it, `if not isinstance(x, float):` what it is in the other branch. */
interface Asked {
  readonly within: readonly Stmt[];
  readonly what: Value;
}

/** What a name is where it stands, by what was asked of it around there. */
export function askedType(name: Name, file: PythonFile): Value | null {
  const asked = file.once(typesAskedFor).get(name.id);
  return asked?.find(({ within }) => within.some((statement) => contains(statement, name)))?.what ?? null;
}

/** By the names of what is asked. */
function typesAskedFor(file: PythonFile): ReadonlyMap<string, readonly Asked[]> {
  const found = new Map<string, Asked[]>();
  for (const call of file.callsNamed("isinstance")) {
    const [of, type] = call.args;
    const not = call.parent?.kind === "Unary" && call.parent.op === "not" ? call.parent : null;
    const test = (not ?? call).parent;
    if (of?.value.kind !== "Name" || !type || test?.kind !== "If") continue;
    const text = file.textOf(type.value);
    const what = COLLECTIONS.test(text) ? plain("container") : NUMBERS.test(text) ? NUMBER : null;
    const within = not ? test.orelse : test.body;
    if (what) found.set(of.value.id, [...(found.get(of.value.id) ?? []), { within, what }]);
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
