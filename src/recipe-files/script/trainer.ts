import type { Draft } from "../draft.ts";
import type { Unread } from "../located.ts";
import { Dotted, type Located, Made, type Table, isTable, lastPart, placeText } from "../located.ts";
import type { Beside } from "../reading.ts";
import { takeCheckpointingKwargs, takeSftLengths, takeTrainerArguments } from "../trainer-arguments.ts";
import { takeLoraConfig } from "../peft.ts";
import { COUNT } from "../words.ts";
import { takeLoadOptions, takeName } from "./model.ts";
import { type Site, type Survey, settled } from "./survey.ts";

const TRAINERS =
  /^(?:(?:.*\.)?(?:Trainer|Seq2SeqTrainer|SFTTrainer|DPOTrainer|GRPOTrainer)|(?:trl|unsloth)\..*Trainer)$/;
const ARGUMENTS =
  /^(?:(?:.*\.)?(?:\w*TrainingArguments|SFTConfig|DPOConfig|GRPOConfig)|trl\.(?:.*\.)?(?!ModelConfig)\w+Config)$/;
/** Those whose step is a language model's own loss. */
const PLAIN = /^(?:\w*TrainingArguments|SFTConfig|SFTTrainer|Trainer|Seq2SeqTrainer|UnslothTrainer)$/;

/** transformers.Trainer and TRL's trainers: whose, or null when the script has none. */
export function takeTrainer(draft: Draft, survey: Survey, beside: Beside): string | null {
  const trainer = trainerOf(survey);
  const found = argumentsOf(survey, trainer, draft);
  if (!trainer && !found) return null;
  const trainerClass = trainer ? rootClass(survey, trainer.name, TRAINERS) : null;
  const argsClass = found ? rootClass(survey, found.made.callee, ARGUMENTS) : null;
  const sft = trainerClass === "SFTTrainer" || argsClass === "SFTConfig";
  const other = [trainerClass, argsClass].find((name) => name && !PLAIN.test(name));
  if (other)
    draft.warn(
      `${other} runs more than a language model's loss: only the trained model's own step is planned`,
      (trainer ?? found!).place,
    );
  const args = found ? withDefaults(survey, found.made) : new Map<string, Located>();
  const kind =
    sft && (argsClass === "SFTConfig" || !found) ? "sft" : argsClass?.endsWith("Config") ? "trl" : "trainer";
  if (found?.made.hidden)
    draft.warn(
      `${argsClass ?? "the arguments"}: ${found.made.hidden} may set more than is seen here`,
      found.place,
    );
  if (trainer) takeTrainerCall(draft, survey, trainer);
  takeEnabled(draft, survey);
  if (sft) draft.set("loop", "sft", trainerClass ?? "SFTConfig", (trainer ?? found!).place);
  else draft.set("loop", "trainer", trainerClass ?? "TrainingArguments", (trainer ?? found!).place);
  const init = args.get("model_init_kwargs");
  if (init && isTable(init.value))
    takeLoadOptions(draft, new Made("from_pretrained", init.value, []), {
      place: init.place,
      last: "from_pretrained",
    });
  takeTrainerArguments(draft, args, kind, beside);
  if (trainer) takeMetrics(draft, survey, trainer, args);
  if (sft && kind === "trainer") takeSftLengths(draft, args);
  if (!sft) takeMask(draft, survey);
  draft.assume("dtype", "bf16", "not set: transformers 5 loads the checkpoint's own type, taken as bf16");
  return sft ? "TRL's SFTTrainer" : other ? "TRL" : "transformers' Trainer";
}

/** DataCollatorWithFlattening has no mask; the others pad and pass one. */
function takeMask(draft: Draft, survey: Survey): void {
  const [flat] = survey.named(/^DataCollatorWithFlattening$/);
  if (flat) draft.set("mask", false, "DataCollatorWithFlattening", flat.place);
  else draft.assume("mask", true, "the collator pads and passes a mask");
}

export function trainerOf(survey: Survey): Site | null {
  const sites = survey.sites.filter(({ name }) => rootClass(survey, name, TRAINERS) !== null);
  return sites.at(-1) ?? null;
}

/** The library's class behind a name: itself, or a base of a class of the program. */
function rootClass(survey: Survey, name: string, wanted: RegExp, depth = 0): string | null {
  const cls = survey.program.classNamed(name);
  if (!cls || depth > 10) return wanted.test(name) ? lastPart(name) : null;
  for (const { value } of cls.node.args) {
    const base = cls.script.file.dotted(value);
    const root = base === null ? null : rootClass(survey, base, wanted, depth + 1);
    if (root) return root;
  }
  return null;
}

export interface FoundArguments {
  readonly made: Made;
  readonly place: Site["place"];
}

/** What the trainer is handed as args, else the last arguments object made. */
export function argumentsOf(survey: Survey, trainer: Site | null, draft?: Draft): FoundArguments | null {
  const isArguments = (at: Located | undefined): FoundArguments | null =>
    at?.value instanceof Made && rootClass(survey, at.value.callee, ARGUMENTS)
      ? { made: at.value, place: at.place }
      : null;
  if (trainer) {
    const handed = isArguments(settled(survey.made(trainer).argument("args", 1)));
    if (handed) return handed;
  }
  const made = survey.sites.filter(({ name }) => rootClass(survey, name, ARGUMENTS) !== null);
  const chosen = made.at(-1);
  if (made.length > 1)
    draft?.warn(`${made.length} sets of training arguments are made: the last is read`, chosen!.place);
  if (chosen) return { made: survey.made(chosen), place: chosen.place };
  return parsed(survey);
}

/** HfArgumentParser((…, SFTConfig)) with nothing else said. */
function parsed(survey: Survey): FoundArguments | null {
  for (const site of survey.named(/^(?:HfArgumentParser|TrlParser)$/)) {
    const given = survey.made(site).argument("dataclass_types", 0);
    const types =
      given && Array.isArray(given.value) ? (given.value as readonly Located[]) : given ? [given] : [];
    for (const { value, place } of types)
      if (value instanceof Dotted && rootClass(survey, value.name, ARGUMENTS))
        return { made: new Made(value.name, new Map(), [], "the command line"), place };
  }
  return null;
}

/** A subclass's own field defaults under what the call gives. */
function withDefaults(survey: Survey, made: Made): Table {
  const cls = survey.program.classNamed(made.callee);
  return cls ? new Map([...survey.evaluator.classFields(cls.node, cls.script), ...made.args]) : made.args;
}

/** SFTTrainer(model="name"), whose quantization_config is from_pretrained's. */
export function takeNamedModel(draft: Draft, survey: Survey): boolean {
  const site = trainerOf(survey);
  const made = site ? survey.made(site) : null;
  const model = made?.argument("model", 0);
  if (!site || !made || typeof settled(model)?.value !== "string") return false;
  takeName(draft, model, "model");
  const quantization = made.args.get("quantization_config");
  if (quantization)
    takeLoadOptions(
      draft,
      new Made("from_pretrained", new Map([["quantization_config", quantization]]), []),
      site,
    );
  return true;
}

/** Arguments of the trainer itself: peft_config, the older max_seq_length and packing. */
function takeTrainerCall(draft: Draft, survey: Survey, site: Site): void {
  const made = survey.made(site);
  const peft = made.args.get("peft_config");
  const config = settled(peft);
  if (config?.value instanceof Made && config.value.callee.endsWith("LoraConfig"))
    takeLoraConfig(draft, config.value.args, config.place);
  else if (peft && !config && !draft.has("method.kind")) {
    if (survey.named(/^get_peft_config$/).length > 0)
      draft.assume("method.kind", "full", "trl's get_peft_config gives an adapter only with --use_peft");
    else
      draft.assume(
        "method.kind",
        "lora",
        `peft_config (${placeText(peft.place)}): ${(peft.value as Unread).why}`,
      );
  }
  const length = made.args.get("max_seq_length");
  if (length) draft.take("seq", "max_seq_length", length, COUNT, 1024);
  const packing = made.args.get("packing");
  if (packing?.value === true) draft.set("mask", false, "packing", packing.place);
}

/** compute_metrics gets every logit: they stay on the card until eval_accumulation_steps moves them. */
function takeMetrics(draft: Draft, survey: Survey, site: Site, args: Table): void {
  const metrics = survey.made(site).args.get("compute_metrics");
  if (!draft.has("evaluation.batch") || !metrics || metrics.value === null) return;
  const steps = args.get("eval_accumulation_steps");
  if (steps && steps.value !== null)
    return draft.take("evaluation.keptLogits", "eval_accumulation_steps", steps, COUNT, 1);
  draft.assume(
    "evaluation.keptLogits",
    1,
    "compute_metrics keeps the logits of the whole evaluation set on the card: one batch is planned",
  );
  draft.warn(
    "eval_accumulation_steps is not set, so that evaluation keeps all its logits on the card",
    metrics.place,
  );
}

/** model.gradient_checkpointing_enable() counts whatever the arguments say: nothing switches it off again. */
export function takeEnabled(draft: Draft, survey: Survey): void {
  const [site] = survey.named(/^gradient_checkpointing_enable$/);
  if (!site) return;
  const made = survey.made(site);
  draft.set("checkpointing.kind", "full", site.last, site.place);
  const kwargs = made.argument("gradient_checkpointing_kwargs", 0);
  if (kwargs && isTable(kwargs.value)) takeCheckpointingKwargs(draft, kwargs.value);
  const direct = new Map([...made.args].filter(([key]) => key === "every_n_layers" || key === "offload"));
  takeCheckpointingKwargs(draft, direct);
}
