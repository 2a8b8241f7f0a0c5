import type { Draft, Reader } from "../draft.ts";
import { type Located, type Table, isList, isTable, placeText } from "../located.ts";
import { takeOptimizerClass, takeOptimizerName } from "../optimizers.ts";
import { takeBitsAndBytes } from "../peft.ts";
import type { Beside, Facts, Field } from "../reading.ts";
import { takeCheckpointingKwargs, takeSpread, takeTrainerArguments } from "../trainer-arguments.ts";
import { ATTENTION, CLIP, COUNT, DTYPE, FLAG, FRACTION, MIXED_PRECISION, TARGETS, TEXT } from "../words.ts";

/** A project's own config has no schema: these are the names people give the same things, by the end of their path. */
interface Synonyms<F extends Field> {
  readonly field: F;
  readonly names: readonly string[];
  readonly reader: Reader<Facts[F]>;
  readonly otherwise: Facts[F];
}

const checkpointed: Reader<Facts["checkpointing.kind"]> = {
  read: (value) => {
    const on = FLAG.read(value);
    return on === undefined ? undefined : on ? "full" : "none";
  },
  expected: FLAG.expected,
};

const one = <F extends Field>(
  field: F,
  reader: Reader<Facts[F]>,
  otherwise: Facts[F],
  names: string,
): Synonyms<F> => ({
  field,
  reader,
  otherwise,
  names: names.split(" "),
});

const ADAPTERS: readonly Synonyms<never>[] = [
  one(
    "method.adapter.rank",
    COUNT,
    8,
    "lora_r lora_rank lora.r lora.rank peft.r peft.rank adapter.r adapter.rank peft_config.r lora_config.r lora.lora_r lora.lora_rank",
  ),
  one("method.adapter.dropout", FRACTION, 0, "lora_dropout lora.dropout peft.dropout adapter.dropout"),
  one(
    "method.adapter.targets",
    TARGETS,
    "all-linear",
    "target_modules lora_target_modules lora_target lora.targets lora.target",
  ),
  one("method.adapter.dora", FLAG, false, "use_dora lora.dora"),
] as never;

const KEYS: readonly Synonyms<never>[] = [
  one(
    "model",
    TEXT,
    "",
    "model_name_or_path pretrained_model_name_or_path model_name model_id base_model model.name model.path model.pretrained model.id model",
  ),
  one(
    "batch",
    COUNT,
    1,
    "per_device_train_batch_size micro_batch_size per_device_batch_size batch_size_per_gpu train_batch_size train.batch train.batch_size training.batch_size batch_size batch",
  ),
  one(
    "accumulation",
    COUNT,
    1,
    "gradient_accumulation_steps grad_accum grad_accumulation_steps accumulate_grad_batches accumulation_steps grad_accum_steps gradient_accumulation accum",
  ),
  one(
    "seq",
    COUNT,
    2048,
    "max_seq_length max_seq_len max_length sequence_length sequence_len seq_length seq_len cutoff_len block_size model_max_length",
  ),
  one("dtype", DTYPE, "bf16", "torch_dtype dtype model_dtype param_dtype"),
  one("attention", ATTENTION, "sdpa", "attn_implementation attention_implementation"),
  one(
    "checkpointing.kind",
    checkpointed,
    "none",
    "gradient_checkpointing activation_checkpointing grad_checkpointing use_gradient_checkpointing",
  ),
  one("checkpointing.offload", FLAG, false, "activation_offloading"),
  one("autocast", MIXED_PRECISION, null, "mixed_precision amp_dtype trainer.precision precision"),
  one(
    "clip",
    CLIP,
    true,
    "max_grad_norm grad_clip clip_grad_norm gradient_clip_val grad_clip_norm clip_grad",
  ),
  one("parallel.ranks", COUNT, 1, "num_gpus n_gpus world_size nproc_per_node"),
] as never;

/** Names that Lightning and others give to ways of spreading a run. */
const STRATEGIES: Readonly<Record<string, Facts["parallel.kind"]>> = {
  ddp: "ddp",
  fsdp: "fsdp2",
  fsdp2: "fsdp2",
  deepspeed_stage_1: "zero1",
  deepspeed_stage_2: "zero2",
  deepspeed_stage_3: "zero3",
};

/** At least one of these makes a file a training config. */
export const TELLING = ["model", "batch"] as const satisfies readonly Field[];

/** A Hydra or plain YAML config of a project's own. */
export function takeByKey(draft: Draft, table: Table, beside: Beside): void {
  const paths = flatten(table, "");
  takeTargets(draft, paths, beside);
  for (const synonyms of KEYS) takeSynonyms(draft, paths, synonyms);
  takeSwitches(draft, paths);
  takeAdapter(draft, paths, table);
  takeOptimizer(draft, paths);
  const kwargs = find(paths, "gradient_checkpointing_kwargs");
  if (kwargs && isTable(kwargs.at.value)) takeCheckpointingKwargs(draft, kwargs.at.value);
  const spread = new Map<string, Located>();
  for (const key of ["deepspeed", "fsdp", "fsdp_config"]) {
    const found = find(paths, key);
    if (found && found.at.value !== null && found.at.value !== false) spread.set(key, found.at);
  }
  takeSpread(draft, spread, beside);
  const strategy = ["dist_config.name", "strategy", "distributed_strategy"].flatMap(
    (name) => find(paths, name) ?? [],
  )[0];
  const kind = strategy ? STRATEGIES[String(strategy.at.value)] : undefined;
  if (strategy && kind) draft.set("parallel.kind", kind, strategy.path, strategy.at.place);
  const ddp = find(paths, "ddp");
  if (ddp && FLAG.read(ddp.at.value)) draft.set("parallel.kind", "ddp", ddp.path, ddp.at.place);
}

interface Entry {
  readonly path: string;
  readonly at: Located;
}

export function flatten(table: Table, prefix: string): Entry[] {
  return [...table].flatMap(([key, at]) => {
    const path = prefix === "" ? key : `${prefix}.${key}`;
    return isTable(at.value) ? [{ path, at }].concat(flatten(at.value, path)) : { path, at };
  });
}

/** The entry whose path ends so, the shortest path first; evaluation's and generation's settings are not training's. */
export function find(paths: readonly Entry[], name: string): Entry | undefined {
  return paths
    .filter(({ path }) => path === name || path.endsWith(`.${name}`))
    .filter(
      ({ path }) => !/(?:^|[._])(?:eval|val|test|generation|inference|sampling|tokenizer_kwargs)/.test(path),
    )
    .toSorted((a, b) => a.path.split(".").length - b.path.split(".").length)[0];
}

function takeSynonyms<F extends Field>(
  draft: Draft,
  paths: readonly Entry[],
  { field, names, reader, otherwise }: Synonyms<F>,
): void {
  const found = names
    .flatMap((name) => find(paths, name) ?? [])
    .filter(({ at }) => at.value !== null && !isTable(at.value));
  const [first, ...others] = found;
  if (!first) return;
  if (field === "dtype" && first.at.value === "auto")
    return draft.assume("dtype", "bf16", `${first.path} is auto: the checkpoint's own type, taken as bf16`);
  draft.take(field, first.path, first.at, reader, otherwise);
  const differs = others.find(
    ({ path, at }) => path !== first.path && !isList(at.value) && at.value !== first.at.value,
  );
  if (differs)
    draft.warn(
      `${differs.path} says ${String(differs.at.value)} where ${first.path} says ${String(first.at.value)} (${placeText(first.at.place)})`,
      differs.at.place,
    );
}

/** `_target_: transformers.TrainingArguments` and the like are read as what they name. */
function takeTargets(draft: Draft, paths: readonly Entry[], beside: Beside): void {
  for (const { at } of paths) {
    if (!isTable(at.value)) continue;
    const target = String(at.value.get("_target_")?.value ?? "");
    const kind = /(?:^|\.)SFTConfig$/.test(target)
      ? "sft"
      : /(?:^|\.)(?:Seq2Seq)?TrainingArguments$/.test(target)
        ? "trainer"
        : null;
    if (!kind) continue;
    draft.set("loop", kind, "_target_", at.value.get("_target_")!.place);
    takeTrainerArguments(draft, at.value, kind, beside);
  }
}

/** bf16: true, fp16: true, amp: true. */
function takeSwitches(draft: Draft, paths: readonly Entry[]): void {
  for (const [name, type] of [
    ["bf16", "bf16"],
    ["fp16", "fp16"],
  ] as const) {
    const found = find(paths, name);
    if (found && FLAG.read(found.at.value)) draft.set("autocast", type, found.path, found.at.place);
  }
  const amp = ["use_amp", "amp"].flatMap((name) => find(paths, name) ?? [])[0];
  if (!amp || isTable(amp.at.value) || draft.has("autocast")) return;
  if (FLAG.read(amp.at.value) === false) draft.set("autocast", null, amp.path, amp.at.place);
  else if (FLAG.read(amp.at.value)) {
    const type = draft.get("dtype") === "fp16" ? "fp16" : "bf16";
    draft.assume("autocast", type, `${amp.path} (${placeText(amp.at.place)}) does not say which type`);
  }
}

function takeAdapter(draft: Draft, paths: readonly Entry[], table: Table): void {
  for (const synonyms of ADAPTERS) takeSynonyms(draft, paths, synonyms);
  const method = ["finetuning_type", "method", "peft_type", "task"]
    .flatMap((name) => find(paths, name) ?? [])
    .find(({ at }) => typeof at.value === "string" && /lora|full/i.test(at.value));
  if (draft.has("method.adapter.rank"))
    draft.assume("method.kind", "lora", "the file gives an adapter's rank");
  else if (method)
    draft.set(
      "method.kind",
      /lora/i.test(String(method.at.value)) ? "lora" : "full",
      method.path,
      method.at.place,
    );
  const four = find(paths, "load_in_4bit");
  if (!four) return draft.assume("method.kind", "full", "the file names no adapter");
  const folder = four.path.slice(0, -"load_in_4bit".length - 1);
  const section = folder === "" ? table : paths.find(({ path }) => path === folder)?.at.value;
  if (section && isTable(section)) takeBitsAndBytes(draft, section, four.at.place);
}

function takeOptimizer(draft: Draft, paths: readonly Entry[]): void {
  const section = ["optimizer", "optim"].flatMap((name) => find(paths, name) ?? [])[0];
  if (!section) return;
  if (!isTable(section.at.value)) return takeOptimizerName(draft, section.path, nicknamed(section.at));
  const target = section.at.value.get("_target_");
  if (typeof target?.value === "string")
    return takeOptimizerClass(draft, target.value, section.at.value, target.place);
  const name = section.at.value.get("name") ?? section.at.value.get("type");
  if (name) takeOptimizerName(draft, `${section.path}.name`, nicknamed(name));
}

/** "AdamW" and "adam" are torch.optim's, stepped with foreach. */
function nicknamed(at: Located): Located {
  return typeof at.value === "string" && /^adamw?$/i.test(at.value) ? { ...at, value: "adamw_torch" } : at;
}
