import type { Script } from "../../recipe-files/script/program.ts";
import { python } from "../lines.ts";
import { quantizationLines } from "../settings.ts";
import { type Edit, indentAt, isTall, lineEnd } from "./edit.ts";
import { Code, setKeyword } from "./keyword.ts";
import { type Edits, type Stage, together } from "./stage.ts";

/** A BitsAndBytesConfig where the model is loaded, and its import. */
export function quantization({ parts, wanted, where }: Stage): Edits {
  const part = parts.load ?? parts.trainer;
  if (!part?.call || quantizationLines(wanted).length === 0) return null;
  const { call, script } = part;
  const named = nameOf("BitsAndBytesConfig", script);
  if (!named) return null;
  const settings = quantizationLines(wanted).map(
    // As text, which needs no name of torch's.
    ({ key, value }) => `${key}=${python(typeof value === "string" ? value.replace("torch.", "") : value)}`,
  );
  const tall = isTall(call, script.file);
  const inner = `${lineEnd(script.file)}${indentAt(script.file, call.args.at(-1)?.start ?? call.start)}`;
  const code = tall
    ? `${named.name}(${settings.map((one) => `${inner}    ${one},`).join("")}${inner})`
    : `${named.name}(${settings.join(", ")})`;
  return together(named.edits, setKeyword(part, "quantization_config", new Code(code), parts, where));
}

/** What a script calls a class of transformers, imported beside the others where it is not. */
function nameOf(
  name: string,
  script: Script,
): { readonly name: string; readonly edits: readonly Edit[] } | null {
  const { file } = script;
  const imports = file
    .all("ImportFrom")
    .filter(({ module, level }) => module === "transformers" && level === 0);
  const known = imports.flatMap(({ names }) => names).find((one) => one.name === name);
  if (known) return { name: known.as ?? name, edits: [] };
  const last = imports.findLast(({ parent }) => parent?.kind === "Module");
  const beside = last?.names.at(-1);
  if (beside?.name === "*") return { name, edits: [] };
  if (beside)
    return { name, edits: [{ file: script.name, start: beside.end, end: beside.end, text: `, ${name}` }] };
  const whole = file
    .all("Import")
    .flatMap(({ names }) => names)
    .find((one) => one.name === "transformers");
  return whole ? { name: `${whole.as ?? "transformers"}.${name}`, edits: [] } : null;
}
