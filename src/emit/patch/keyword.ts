import type { Expr } from "../../python/tree.ts";
import { Made, type Place, Unread } from "../../recipe-files/located.ts";
import type { Part, Parts } from "../../recipe-files/script/parts.ts";
import type { Script } from "../../recipe-files/script/program.ts";
import { python, type Value } from "../lines.ts";
import { addKeyword, type Edit } from "./edit.ts";

/** Code that is put into a script as it is. */
export class Code {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const KINDS = ["Num", "Str", "Const", "Unary", "Binary", "Attribute", "List", "Tuple", "Dict"] as const;

/** An expression that stands for itself: changing it changes one setting. */
function isConstant(expr: Expr, script: Script): boolean {
  switch (expr.kind) {
    case "Num":
    case "Const":
      return true;
    case "Str":
      return expr.value !== null;
    case "Unary":
      return isConstant(expr.operand, script);
    case "Binary":
      return isConstant(expr.left, script) && isConstant(expr.right, script);
    case "List":
    case "Tuple":
      return expr.items.every((item) => isConstant(item, script));
    case "Dict":
      return [...expr.keys, ...expr.values].every((one) => one !== null && isConstant(one, script));
    case "Attribute":
      return script.file.dotted(expr)?.startsWith("torch.") === true;
    default:
      return false;
  }
}

interface Written {
  readonly expr: Expr;
  readonly script: Script;
}

function constantAt({ file, span }: Place, { survey }: Parts): Written | null {
  const script = survey.program.scripts().find(({ name }) => name === file);
  if (!script || !span) return null;
  for (const kind of KINDS)
    for (const expr of script.file.all(kind))
      if (expr.start === span.start && expr.end === span.end)
        return isConstant(expr, script) ? { expr, script } : null;
  return null;
}

/** A value in the manner of what stands there: its quotes, and a type as text or as torch's own. */
function inMannerOf(value: Value | Code, { expr, script }: Written): string {
  if (value instanceof Code) return value.text;
  const torch = typeof value === "string" ? /^torch\.(\w+)$/.exec(value) : null;
  const quoted = (text: string): string =>
    script.file.text.startsWith("'", expr.start) ? text.replaceAll('"', "'") : text;
  if (torch && expr.kind === "Attribute") return `${script.file.textOf(expr.value)}.${torch[1]}`;
  if (torch && expr.kind === "Str") return quoted(JSON.stringify(torch[1]));
  return quoted(python(value));
}

/** How often a program names a variable beyond giving it its value. */
function uses(id: string, { survey }: Parts): number {
  return survey.program
    .scripts()
    .flatMap((script) => script.file.all("Name"))
    .filter(
      (name) =>
        name.id === id && !(name.parent?.kind === "Assign" && name.parent.targets.includes(name as never)),
    ).length;
}

export const replace = ({ expr, script }: Written, text: string): Edit[] => [
  { file: script.name, start: expr.start, end: expr.end, text },
];

/** The constant a setting comes from, changed; null when it is none. */
export function changeConstant(place: Place, value: Value | Code, parts: Parts): Edit[] | null {
  const written = constantAt(place, parts);
  return written && replace(written, inMannerOf(value, written));
}

/**
 * Sets one argument of a call: `where` its value is written, also in a table or an option's default, or at the
 * call itself. Null when neither can be told from the text.
 */
export function setKeyword(
  part: Part | null,
  key: string,
  value: Value | Code,
  parts: Parts,
  where: "origin" | "call",
): Edit[] | null {
  if (!part?.call) return null;
  const { call, script, made } = part;
  const said = made.args.get(key);
  const direct = call.args.find((arg) => arg.name === key)?.value;
  if (!said) {
    if (made.hidden) return null;
    const text = value instanceof Code ? value.text : python(torchOr(value, script));
    return addKeyword(call, `${key}=${text}`, script);
  }
  if (said.value instanceof Unread || said.value instanceof Made) return null;
  const shared = direct?.kind === "Name" && uses(direct.id, parts) > 1;
  if (where === "origin" && !shared) {
    const changed = changeConstant(said.place, value, parts);
    if (changed) return changed;
  }
  return direct ? replace({ expr: direct, script }, inMannerOf(value, { expr: direct, script })) : null;
}

/** torch's types need its name; transformers takes them as text too. */
function torchOr(value: Value, { file }: Script): Value {
  const torch = typeof value === "string" ? /^torch\.(\w+)$/.exec(value) : null;
  if (!torch) return value;
  const imported = file
    .all("Import")
    .some(({ names }) => names.some(({ name, as }) => name === "torch" && !as));
  return imported ? value : torch[1]!;
}
