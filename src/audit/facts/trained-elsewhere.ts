import { argument, importsFrom, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { handedIn } from "./handed-in.ts";
import { feedingPreparations, feedsGradients, wrapsInAdapters } from "./checkpointing.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Names } from "./names.ts";
import type { FileSummary } from "./summary.ts";

/** What a file hands to a Trainer of transformers and has from other files. */
export interface Trained {
  /** The models, or the functions that they come from or go through: dotted names. */
  readonly names: readonly string[];
  /** It speaks of hidden states or attentions, or takes outputs apart. */
  readonly states?: true | undefined;
  /** It says what the model computes in. */
  readonly typed?: true | undefined;
  /**
   * The paths of those that read the arguments of their Trainer from a file of settings or the command line, and leave the cache
   * of what they train as it is.
   */
  readonly asks?: readonly string[] | undefined;
}

const LIBRARIES = /^(?:transformers|trl)\b/;
const TRAINERS = /Trainer$/;
const STATES = /hidden_states|attentions|\b\w*outputs?\[(?!0\])/;

/** `model.config.use_cache = False`, `use_cache = not args.gradient_checkpointing` */
const CACHE_OFF = /use_cache["']?\s*[=:]\s*(?:False|not)\b/;

/** Made half afterwards: `.half()`, `.to(torch.bfloat16)`. */
export const MADE_HALF =
  /(?:model|net|encoder|\))\.(?:half|bfloat16)\(\)|(?<!\b(?:module|layer|param))\.to\(\s*(?:dtype\s*=\s*)?torch\.(?:b?float16|half)/;

export function trainedModels(file: PythonFile): Trained | undefined {
  if (!importsFrom(file, LIBRARIES)) return undefined;
  const names = new Set<string>();
  for (const call of file.calls.matching(TRAINERS)) {
    // Others only have it evaluate.
    const trains = keyword(call, "train_dataset") !== null || file.mentions(".train(");
    const model = trains && isTransformers(call, file) ? argument(call, "model", 0) : null;
    if (model) follow(model, names, file, 0);
  }
  if (names.size === 0) return undefined;
  return {
    names: [...names],
    states: file.says(STATES) || undefined,
    typed: file.says(MADE_HALF) || undefined,
    asks: readsArguments(file) && !file.says(CACHE_OFF) ? [file.path] : undefined,
  };
}

/** Of transformers, of trl, and those that projects derive from them. */
const PARSERS = /(?:^[A-Z]\w*ArgumentParser|^TrlParser)$/;
/** `TrainingArguments`, `Seq2SeqTrainingArguments`, and those of trl. */
const ARGUMENTS = /TrainingArguments$|^(?:SFT|DPO|GRPO|PPO|KTO|ORPO|CPO|Reward)Config$/;

/** `HfArgumentParser((ModelArguments, TrainingArguments))`, `TrainingArguments(**settings)` */
export function readsArguments(file: PythonFile): boolean {
  return (
    file.calls.matching(PARSERS).some(({ args }) =>
      args.some(({ value }) => {
        const classes = value.kind === "Tuple" || value.kind === "List" ? value.items : [value];
        return classes.some((one) => ARGUMENTS.test(lastWord(one)));
      }),
    ) || file.calls.matching(ARGUMENTS).some(({ args }) => args.some(({ star }) => star === 2))
  );
}

/** Or of a class of this file that derives from one: what others do with the outputs is not seen here. */
function isTransformers({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func) ?? "";
  if (/^(?:transformers|trl)\./.test(name)) return true;
  return file
    .all("ClassDef")
    .some(
      (cls) =>
        file.qualified(cls) === name &&
        cls.args.some(({ value }) => /^(?:transformers|trl)\.\w*Trainer$/.test(file.dotted(value) ?? "")),
    );
}

/** Through names, attributes, parameters, functions that are handed it, and methods that return it. */
function follow(expr: Expr, names: Set<string>, file: PythonFile, depth: number): void {
  if (depth > 6) return;
  const dotted = file.dotted(expr.kind === "Call" ? expr.func : expr);
  const elsewhere =
    dotted !== null &&
    dotted.includes(".") &&
    !/^(?:torch|transformers|peft|trl|builtins)\./.test(dotted) &&
    !dotted.startsWith(`${file.module}.`);
  if (elsewhere) names.add(dotted);
  if (expr.kind === "Call") {
    const { func } = expr;
    if (dotted === null && func.kind === "Attribute") follow(func.value, names, file, depth + 1);
    // `attach_lora(model, tokenizer)`
    const model = dotted === null ? null : argument(expr, "model", 0);
    if (model?.kind === "Name" || model?.kind === "Call") follow(model, names, file, depth + 1);
    return;
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  for (const { value } of cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [])
    if (value) follow(value, names, file, depth + 1);
  if (expr.kind === "Name" && dotted === null)
    for (const definition of file.scopes.reaching(expr)) {
      const { how, value } = definition;
      const given = how === "param" ? handedIn(definition, file, true) : [];
      for (const one of how === "assign" || how === "unpack" ? [value] : given)
        if (one) follow(one, names, file, depth + 1);
    }
}

/** It puts adapters around a model, or sees to it that gradients get into what is checkpointed. */
export function adaptersOf(file: PythonFile): FileSummary["adapters"] {
  const isHome = file.callsNamed("from_pretrained", "get_peft_model").length > 0;
  // `def prepare(model): model.enable_input_require_grads()`
  if (!isHome && !file.mentions("require_grad") && feedingPreparations(file).length === 0) return undefined;
  if (feedsGradients(file)) return "fed";
  return wrapsInAdapters(file).length > 0 ? "made" : undefined;
}

/** `BitsAndBytesConfig(load_in_4bit=True)`, `settings["load_in_8bit"] = True` */
export function quantizes(file: PythonFile): boolean {
  return (
    (file.mentions("load_in_8bit") || file.mentions("load_in_4bit")) &&
    file.says(/["']?load_in_[48]bit["']?\]?\s*[=:](?!\s*False)/)
  );
}

/** By module that a model comes from which another one trains: what those others say of it. */
export type TrainedElsewhere = ReadonlyMap<string, Omit<Trained, "names">>;

/** Modules whose models others train, and modules that train what others put adapters around and nothing feeds. */
export function trainedElsewhere(
  summaries: readonly FileSummary[],
  names: Names,
  functions: ReadonlyMap<string, unknown>,
): { readonly trained: TrainedElsewhere; readonly adapted: ReadonlySet<string> } {
  const trained = new Map<string, Omit<Trained, "names">>();
  const adapted = new Set<string>();
  const training = summaries.filter((file) => file.trained !== undefined);
  if (training.length === 0) return { trained, adapted };
  const adapters = new Map(summaries.map((file) => [file.module, file.adapters]));
  for (const { module, trained: one } of training) {
    const from = one!.names.flatMap((name) => names.moduleOf(names.resolve(name, functions) ?? name) ?? []);
    for (const home of from) {
      const known = trained.get(home);
      trained.set(home, {
        states: known?.states ?? one!.states,
        typed: known?.typed ?? one!.typed,
        asks: known?.asks ? [...known.asks, ...(one!.asks ?? [])] : one!.asks,
      });
    }
    const said = new Set(from.map((home) => adapters.get(home)));
    if (said.has("made") && !said.has("fed")) adapted.add(module);
  }
  return { trained, adapted };
}
