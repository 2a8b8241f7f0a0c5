import type { Call } from "../../python/tree.ts";
import {
  Dotted,
  type Located,
  Made,
  type Table,
  Unread,
  type Value,
  isList,
  isTable,
  lastPart,
} from "../located.ts";
import { folderOf, joinPath } from "../paths.ts";
import { readYaml } from "../yaml.ts";
import { composeHydra } from "../hydra.ts";
import { commandLine } from "./command-line.ts";
import type { Evaluator } from "./evaluate.ts";
import { several } from "./operators.ts";
import type { Script } from "./program.ts";

interface Arguments {
  readonly args: Table;
  readonly positional: readonly Located[];
  readonly hidden: string | null;
}

/** What a call passes; a table spread with ** counts as its keys. */
export function argumentsOf(evaluator: Evaluator, call: Call, script: Script): Arguments {
  const args = new Map<string, Located>();
  const positional: Located[] = [];
  let hidden: string | null = null;
  for (const arg of call.args) {
    const at = evaluator.of(arg.value, script);
    if (arg.name !== null) args.set(arg.name, at);
    else if (arg.star === 0) positional.push(at);
    else if (isTable(at.value)) for (const [key, one] of at.value) args.set(key, one);
    else if (at.value instanceof Made && at.value.args.size > 0)
      for (const [key, one] of at.value.args) args.set(key, one);
    else if (isList(at.value)) positional.push(...at.value);
    else if (at.value instanceof Unread) hidden = at.value.why;
  }
  return { args, positional, hidden };
}

/** Asked at run time; on the cards plans are for, the answer is yes. */
const CARD_QUESTIONS: Readonly<Record<string, string>> = {
  "torch.cuda.is_bf16_supported": "it asks the card: bf16, from Ampere on",
  "transformers.utils.is_torch_bf16_gpu_available": "it asks the card: bf16, from Ampere on",
  "unsloth.is_bfloat16_supported": "it asks the card: bf16, from Ampere on",
  "unsloth.is_bf16_supported": "it asks the card: bf16, from Ampere on",
  "torch.cuda.is_available": "it asks for a card: there is one",
};

/** Methods that hand back what they are called on, for what recipes ask of it. */
const SAME = new Set([
  "to",
  "cuda",
  "copy",
  "train",
  "eval",
  "strip",
  "expanduser",
  "resolve",
  "absolute",
  "items",
]);

export function evaluateCall(evaluator: Evaluator, call: Call, script: Script): Located {
  const place = script.place(call);
  const at = (value: Value): Located => ({ value, place });
  const name = calleeOf(evaluator, call, script);
  const argument = (index: number): Located | undefined => {
    const given = call.args.filter((arg) => arg.name === null)[index];
    return given ? evaluator.of(given.value, script) : undefined;
  };
  const named = (key: string): Located | undefined => {
    const given = call.args.find((arg) => arg.name === key);
    return given ? evaluator.of(given.value, script) : undefined;
  };
  if (name === null) return method(evaluator, call, script);
  const question = CARD_QUESTIONS[name];
  if (question) return at(new Unread(question, at(true)));
  switch (name) {
    case "builtins.int":
    case "builtins.float": {
      const inner = argument(0);
      const value = inner?.value;
      if (typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value)))
        return { value: Number(value), place: inner!.place };
      if (typeof value === "number")
        return { value: name.endsWith("int") ? Math.trunc(value) : value, place: inner!.place };
      if (
        value instanceof Unread &&
        typeof value.guess?.value === "string" &&
        !Number.isNaN(Number(value.guess.value))
      )
        return at(new Unread(value.why, { ...value.guess, value: Number(value.guess.value) }));
      return inner ?? at(0);
    }
    case "builtins.bool":
    case "builtins.str":
    case "builtins.list":
    case "builtins.tuple":
    case "pathlib.Path":
      return argument(0) ?? at(null);
    case "builtins.dict":
    case "types.SimpleNamespace":
    case "argparse.Namespace":
    case "easydict.EasyDict": {
      const { args, positional } = argumentsOf(evaluator, call, script);
      const base = positional[0]?.value;
      return at(new Map([...(base && isTable(base) ? base : []), ...args]));
    }
    case "builtins.min":
    case "builtins.max": {
      const { positional } = argumentsOf(evaluator, call, script);
      const numbers = positional.map((one) => one.value);
      if (numbers.every((one) => typeof one === "number") && numbers.length > 1)
        return at(name.endsWith("min") ? Math.min(...numbers) : Math.max(...numbers));
      return several(positional, "it is decided at run time", place);
    }
    case "builtins.getattr": {
      const [object, key] = [argument(0), argument(1)];
      if (object && typeof key?.value === "string")
        return { ...evaluator.member(object, key.value), place: key.place };
      return guess(key, (word) => new Dotted(`torch.${word}`), place);
    }
    case "os.environ.get":
    case "os.getenv":
      return at(new Unread("it comes from the environment", argument(1) ?? null));
    case "os.path.join": {
      const { positional } = argumentsOf(evaluator, call, script);
      const parts = positional.map((one) => one.value);
      return parts.every((one) => typeof one === "string")
        ? at(parts.join("/"))
        : at(new Unread("a path put together at run time"));
    }
    case "dataclasses.field": {
      const factory = call.args.find((arg) => arg.name === "default_factory")?.value;
      if (factory?.kind === "Lambda") return evaluator.of(factory.body, script);
      return named("default") ?? at(new Unread("it has no default"));
    }
    case "omegaconf.OmegaConf.load":
    case "yaml.safe_load":
    case "yaml.load":
    case "json.load":
      return loaded(evaluator, argument(0), script, place);
    case "omegaconf.OmegaConf.create":
    case "omegaconf.OmegaConf.to_container":
    case "dataclasses.asdict":
    case "builtins.vars":
      return argument(0) ?? at(new Map());
    default:
      return made(evaluator, call, name, script);
  }
}

/** The callee's full name; names bound to a value (a class passed around) through that value. */
function calleeOf(evaluator: Evaluator, call: Call, script: Script): string | null {
  const name = script.file.dotted(call.func);
  if (name !== null) return name;
  if (call.func.kind !== "Name") return null;
  const { value } = evaluator.of(call.func, script);
  return value instanceof Dotted ? value.name : null;
}

function made(evaluator: Evaluator, call: Call, name: string, script: Script): Located {
  const place = script.place(call);
  const fn = evaluator.program.functionNamed(name);
  if (fn) {
    const returns = fn.script.file
      .all("Return")
      .filter(
        (one) =>
          one.start >= fn.node.start &&
          one.end <= fn.node.end &&
          one.value &&
          evaluator.reachable(one, fn.script),
      );
    if (returns.length === 1) return evaluator.of(returns[0]!.value!, fn.script);
    return several(
      returns.map((one) => evaluator.of(one.value!, fn.script)),
      `${lastPart(name)}() decides at run time`,
      place,
    );
  }
  const { args, positional, hidden } = argumentsOf(evaluator, call, script);
  return { value: new Made(name, args, positional, hidden), place };
}

function method(evaluator: Evaluator, call: Call, script: Script): Located {
  const place = script.place(call);
  const { func } = call;
  if (func.kind !== "Attribute") return { value: new Unread("it is the result of a call"), place };
  const parsed = commandLine(evaluator, call, func.attr, script);
  if (parsed) return parsed;
  const base = evaluator.of(func.value, script);
  const first = call.args[0]?.value;
  if ((func.attr === "get" || func.attr === "pop") && first) {
    const key = evaluator.of(first, script).value;
    const fallback = call.args[1] ? evaluator.of(call.args[1].value, script) : { value: null, place };
    if (isTable(base.value) && typeof key === "string") return base.value.get(key) ?? fallback;
    return {
      value: new Unread("it is looked up at run time", fallback.value === null ? null : fallback),
      place,
    };
  }
  if (SAME.has(func.attr)) return base;
  if (func.attr === "lower" && typeof base.value === "string")
    return { ...base, value: base.value.toLowerCase() };
  return { value: new Unread(`${func.attr}() is not followed`), place };
}

/** A YAML or JSON file read by the script: open("x.yaml"), or its path. */
function loaded(
  evaluator: Evaluator,
  source: Located | undefined,
  script: Script,
  place: Located["place"],
): Located {
  let path: Value | undefined = source?.value;
  if (path instanceof Made && path.callee === "builtins.open") path = path.positional[0]?.value;
  if (path instanceof Unread) path = path.guess?.value;
  if (typeof path !== "string") return { value: new Unread("a file whose name is not known is read"), place };
  for (const folder of [folderOf(script.name), folderOf(evaluator.program.main.name), ""]) {
    const name = joinPath(folder, path);
    const text = evaluator.program.beside(name);
    if (text !== null)
      return /\.ya?ml$/.test(name)
        ? composeHydra({ name, text }, evaluator.program.beside)
        : readYaml({ name, text });
  }
  return { value: new Unread(`${path} is not there`), place };
}

/** getattr(torch, name) with a name that is only guessed. */
function guess(key: Located | undefined, make: (word: string) => Value, place: Located["place"]): Located {
  const word = key?.value instanceof Unread ? key.value.guess?.value : undefined;
  const why = key?.value instanceof Unread ? key.value.why : "it is looked up at run time";
  return { value: new Unread(why, typeof word === "string" ? { value: make(word), place } : null), place };
}
