import type { Draft } from "../draft.ts";
import type { Located } from "../located.ts";
import { takeOptimizerClass } from "../optimizers.ts";
import { walk } from "../../python/nodes.ts";
import { CLIP, COUNT, DTYPE, MIXED_PRECISION } from "../words.ts";
import type { Site, Survey } from "./survey.ts";
import { find, flatten } from "../configs/by-key.ts";
import { constants } from "./constants.ts";
import { takeOwnSteps } from "./own-steps.ts";
import { takeEnabled } from "./trainer.ts";

const OPTIMIZERS =
  /^(?:torch\.optim\.|bitsandbytes\.optim\.|bnb\.optim\.|torchao\.|transformers\.(?:optimization\.)?Ada|deepspeed\.ops\.adam\.|lion_pytorch\.)/;
const OPTIMIZER_CLASS =
  /^(?:Paged)?(?:Adam|Lion|SGD|RMSprop|Adagrad|Adafactor|DeepSpeedCPUAdam|FusedAdam|CPUOffloadOptimizer)\w*$/;

export function optimizerOf(survey: Survey): Site | null {
  return survey.sites.find(({ name, last }) => OPTIMIZERS.test(name) && OPTIMIZER_CLASS.test(last)) ?? null;
}

/** A loop written by hand, with or without accelerate; null when no optimizer is made. */
export function takePlainLoop(draft: Draft, survey: Survey): string | null {
  const optimizer = optimizerOf(survey);
  if (!optimizer) return null;
  takeOptimizerClass(draft, optimizer.name, survey.made(optimizer).args, optimizer.place);
  draft.set("loop", "plain", optimizer.last, optimizer.place);
  takeBatch(draft, survey);
  takeClipping(draft, survey);
  takeEnabled(draft, survey);
  takeOwnSteps(draft, survey, optimizer);
  const accelerated = takeAccelerator(draft, survey);
  takeAutocast(draft, survey);
  takeAccumulation(draft, survey);
  if (!draft.has("accumulation"))
    takeConstant(draft, survey, "accumulation", [
      "gradient_accumulation_steps",
      "grad_accum",
      "accumulation_steps",
    ]);
  takeSpread(draft, survey);
  takeMask(draft, survey);
  const [liger] = survey.named(/^apply_liger_kernel_to_/);
  if (liger) draft.set("loss", "fused", liger.last, liger.place);
  draft.assume("dtype", "bf16", "not set: transformers 5 loads the checkpoint's own type, taken as bf16");
  return accelerated ? "a loop with accelerate" : "a plain PyTorch loop";
}

/** The DataLoader that shuffles or is called train; else the first. */
function takeBatch(draft: Draft, survey: Survey): void {
  const loaders = survey.named(/^DataLoader$/);
  const training = ({ call, script }: Site): boolean =>
    call.args.some(
      (arg) => arg.name === "shuffle" && arg.value.kind === "Const" && arg.value.value === true,
    ) || /train/i.test(script.file.textOf(call.parent ?? call).slice(0, 200));
  const loader = loaders.find(training) ?? loaders[0];
  if (!loader) {
    takeConstant(draft, survey, "batch", ["micro_batch_size", "batch_size", "batch"]);
    return draft.assume("batch", 1, "no DataLoader is made");
  }
  const size = survey.made(loader).argument("batch_size", 1);
  if (size) draft.take("batch", "DataLoader(batch_size)", size, COUNT, 1);
  // torch/utils/data/dataloader.py.
  draft.assume("batch", 1, "not set: DataLoader's default");
}

/** A module-level constant, or a setting of Hydra's, by its usual names. */
function takeConstant(
  draft: Draft,
  survey: Survey,
  field: "batch" | "accumulation",
  names: readonly string[],
): void {
  const paths = flatten(constants(survey), "");
  const found = names
    .flatMap((name) => find(paths, name) ?? [])
    .find(({ at }) => COUNT.read(at.value) !== undefined);
  if (found) draft.take(field, found.path, found.at, COUNT, 1);
}

function takeClipping(draft: Draft, survey: Survey): void {
  const [clip] = survey.named(/^clip_grad_norm_$/);
  const value = clip ? survey.made(clip).argument("max_norm", 1) : undefined;
  if (!clip) return draft.assume("clip", false, "clip_grad_norm_ is not called");
  if (value) draft.take("clip", "clip_grad_norm_", value, CLIP, true);
  draft.assume("clip", true, "clip_grad_norm_ is called");
}

function takeAccelerator(draft: Draft, survey: Survey): boolean {
  const site = survey.sites.find(({ name, last }) => last === "Accelerator" && name.startsWith("accelerate"));
  if (!site) return false;
  const { args } = survey.made(site);
  draft.take("autocast", "mixed_precision", args.get("mixed_precision"), MIXED_PRECISION, null);
  draft.take(
    "accumulation",
    "gradient_accumulation_steps",
    args.get("gradient_accumulation_steps"),
    COUNT,
    1,
  );
  if (!args.has("mixed_precision"))
    draft.warn("mixed precision may come from accelerate's own config: read that file too", site.place);
  return true;
}

export function autocastOf(survey: Survey): Site | null {
  return (
    survey.sites.find(
      ({ last, call, script }) => last === "autocast" && !script.file.textOf(call).includes("enabled=False"),
    ) ?? null
  );
}

/** torch.autocast("cuda", dtype=…): fp16 unless said (torch/amp/autocast_mode.py). */
function takeAutocast(draft: Draft, survey: Survey): void {
  const site = autocastOf(survey);
  if (!site) return draft.assume("autocast", null, "no autocast is used");
  const dtype = survey.made(site).args.get("dtype") ?? survey.made(site).positional[1];
  const narrow = (value: Located["value"]): "bf16" | "fp16" | undefined => {
    const type = DTYPE.read(value);
    return type === "bf16" || type === "fp16" ? type : undefined;
  };
  if (dtype)
    draft.take(
      "autocast",
      "autocast",
      dtype,
      { read: narrow, expected: "torch.bfloat16 or torch.float16" },
      "bf16",
    );
  else draft.set("autocast", "fp16", "autocast", site.place);
}

/** `if (step + 1) % N == 0:` around the optimizer's step. */
function takeAccumulation(draft: Draft, survey: Survey): void {
  if (draft.has("accumulation")) return;
  for (const script of survey.program.scripts())
    for (const branch of script.file.all("If")) {
      let steps = false;
      for (const statement of branch.body)
        walk(statement, (node) => {
          if (
            node.kind === "Call" &&
            node.func.kind === "Attribute" &&
            node.func.attr === "step" &&
            /optim/i.test(script.file.textOf(node.func.value))
          )
            steps = true;
        });
      if (!steps) continue;
      walk(branch.test, (node) => {
        if (node.kind !== "Binary" || node.op !== "%") return;
        draft.take("accumulation", "accumulation", survey.evaluator.of(node.right, script), COUNT, 1);
      });
    }
}

function takeSpread(draft: Draft, survey: Survey): void {
  const [ddp] = survey.named(/^(?:DistributedDataParallel|DDP)$/);
  if (ddp) draft.set("parallel.kind", "ddp", ddp.last, ddp.place);
  const [fsdp] = survey.named(/^(?:FullyShardedDataParallel|fully_shard)$/);
  if (fsdp) draft.set("parallel.kind", "fsdp2", fsdp.last, fsdp.place);
  if (fsdp?.last === "FullyShardedDataParallel")
    draft.warn("FSDP1 is planned as FSDP2, whose flat parameters it does not have", fsdp.place);
}

/** model(input_ids, attention_mask=…) or model(**batch), whose batch a tokenizer made. */
function takeMask(draft: Draft, survey: Survey): void {
  for (const script of survey.program.scripts())
    for (const call of script.file.all("Call")) {
      const callee =
        call.func.kind === "Name" ? call.func.id : call.func.kind === "Attribute" ? call.func.attr : "";
      // model(…), or base.model(…) where only the hidden states are wanted.
      if (call.func.kind === "Name" ? !/model|net/i.test(callee) : callee !== "model") continue;
      const given = call.args.find((arg) => arg.name === "attention_mask");
      if (given) return draft.set("mask", true, "attention_mask", script.place(given));
      if (call.args.some((arg) => arg.star === 2))
        return draft.assume("mask", true, "the batch is passed whole, with the tokenizer's mask");
    }
}
