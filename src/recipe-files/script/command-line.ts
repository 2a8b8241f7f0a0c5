import { keyword, positional } from "../../python/file.ts";
import type { Call } from "../../python/tree.ts";
import { type Located, Dotted, Made, Unread, isList } from "../located.ts";
import type { Evaluator } from "./evaluate.ts";
import type { Script } from "./program.ts";

/** What a script's own options are when none is given: argparse's defaults, or those of the dataclasses it parses into. */
export function commandLine(
  evaluator: Evaluator,
  call: Call,
  method: string,
  script: Script,
): Located | null {
  const place = script.place(call);
  if (method === "parse_args" || method === "parse_known_args") {
    const options: Located = { value: argparseDefaults(evaluator, script), place };
    return method === "parse_args" ? options : { value: [options, { value: [], place }], place };
  }
  if (!/^parse_(?:args_into_dataclasses|args_and_config|dict|json_file|yaml_file)$/.test(method)) return null;
  if (call.func.kind !== "Attribute") return null;
  const parser = evaluator.of(call.func.value, script).value;
  if (!(parser instanceof Made)) return null;
  const given = parser.argument("dataclass_types", 0);
  const types = given === undefined ? [] : isList(given.value) ? given.value : [given];
  const objects = types.map((type) => ({
    value: new Made(type.value instanceof Dotted ? type.value.name : "", new Map(), [], "the command line"),
    place: type.place,
  }));
  return { value: objects, place };
}

function argparseDefaults(evaluator: Evaluator, script: Script): Map<string, Located> {
  const options = new Map<string, Located>();
  for (const call of script.file.all("Call")) {
    if (call.func.kind !== "Attribute" || call.func.attr !== "add_argument") continue;
    const flags = call.args
      .filter((arg) => arg.name === null)
      .flatMap((arg) => (arg.value.kind === "Str" && arg.value.value !== null ? [arg.value.value] : []));
    const flag = flags.find((one) => one.startsWith("--")) ?? flags[0];
    if (flag === undefined) continue;
    const destination = keyword(call, "dest")?.value;
    const name =
      destination?.kind === "Str" && destination.value !== null
        ? destination.value
        : flag.replace(/^-+/, "").replaceAll("-", "_");
    const place = script.place(call);
    const value = keyword(call, "default")?.value;
    const action = keyword(call, "action")?.value;
    const word = action?.kind === "Str" ? action.value : null;
    if (value) options.set(name, evaluator.of(value, script));
    else if (word === "store_true") options.set(name, { value: false, place });
    else if (word === "store_false") options.set(name, { value: true, place });
    else
      options.set(name, {
        value: new Unread(`it comes from the command line: ${positional(call, 0) ? flag : name}`),
        place,
      });
  }
  return options;
}
