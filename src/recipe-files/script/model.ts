import { FAMILIES } from "../../nets/families.ts";
import { plain } from "../configs/own.ts";
import type { Draft } from "../draft.ts";
import { type Located, Made, Unread, lastPart, placeText } from "../located.ts";
import { takeBitsAndBytes, takeLoraConfig } from "../peft.ts";
import { ATTENTION, COUNT, DTYPE, FLAG } from "../words.ts";
import { type Site, type Survey, settled } from "./survey.ts";

const NOT_MODELS =
  /Tokenizer|Processor|Config$|FeatureExtractor|Peft|Dataset|Reward|Classification|Image|Vision|VAE|UNet|Scheduler/;

const UNSLOTH = /Fast\w*Model/;

/** Calls that load a model; a script that offers Unsloth's too is planned as transformers runs it. */
export function loadsOf(survey: Survey): readonly Site[] {
  return survey
    .named(/^(?:from_pretrained|from_config|_from_config)$/)
    .filter(
      ({ name }) =>
        !NOT_MODELS.test(lastPart(name.replace(/\.[^.]*$/, ""))) && /Model|ForCausalLM|LM/.test(name),
    )
    .toSorted((a, b) => Number(UNSLOTH.test(a.name)) - Number(UNSLOTH.test(b.name)));
}

/** The model a script loads: name, type, attention, quantisation. */
export function takeModel(draft: Draft, survey: Survey): void {
  const [load, ...others] = loadsOf(survey);
  if (load) takeLoad(draft, survey, load);
  for (const other of others) {
    const name = settled(survey.made(other).argument("pretrained_model_name_or_path", 0))?.value;
    if (typeof name === "string" && name !== draft.get("model"))
      draft.warn(`a second model, ${name}, is loaded: it is not in the plan`, other.place);
  }
  if (!load) takeConstructed(draft, survey);
  takeCasts(draft, survey);
}

function takeLoad(draft: Draft, survey: Survey, site: Site): void {
  const made = survey.made(site);
  const unsloth = UNSLOTH.test(site.name);
  if (unsloth)
    draft.warn("Unsloth's own kernels are not modelled: the plan is of transformers' code", site.place);
  if (site.last === "from_pretrained")
    takeName(
      draft,
      made.argument(unsloth ? "model_name" : "pretrained_model_name_or_path", 0),
      "from_pretrained",
    );
  else takeConfig(draft, made.argument("config", 0));
  takeLoadOptions(draft, made, site, unsloth);
  if (unsloth) draft.take("seq", "max_seq_length", made.args.get("max_seq_length"), COUNT, 2048);
  if (/Liger/.test(site.name))
    draft.set("loss", "fused", lastPart(site.name.replace(/\.[^.]*$/, "")), site.place);
}

/** from_pretrained's keywords, also those of SFTConfig's model_init_kwargs. */
export function takeLoadOptions(
  draft: Draft,
  made: Made,
  site: { readonly place: Site["place"]; readonly last: string },
  unsloth = false,
): void {
  const { args } = made;
  const key = args.has("dtype") ? "dtype" : "torch_dtype";
  const dtype = args.get(key);
  // transformers 5 loads the checkpoint's own type when nothing is said (modeling_utils.py, dtype="auto").
  const auto = "the checkpoint's own type, taken as bf16";
  if (dtype && (dtype.value === "auto" || dtype.value === null))
    draft.assume("dtype", "bf16", `${key} is auto (${placeText(dtype.place)}): ${auto}`);
  else draft.take("dtype", key, dtype, DTYPE, "bf16");
  draft.take("attention", "attn_implementation", args.get("attn_implementation"), ATTENTION, "sdpa");
  const config = settled(args.get("quantization_config"));
  if (config?.value instanceof Made && config.value.callee.endsWith("BitsAndBytesConfig"))
    takeBitsAndBytes(draft, config.value.args, config.place);
  else {
    const given = args.get("quantization_config");
    if (given?.value instanceof Unread)
      draft.warn(`quantization_config: ${given.value.why}; plain weights are planned`, given.place);
  }
  const four = args.get("load_in_4bit");
  // Unsloth quantises to nf4, doubled, unless told otherwise (FastLanguageModel.from_pretrained, load_in_4bit=True).
  if (unsloth && (!four || FLAG.read(four.value))) {
    const place = four?.place ?? site.place;
    draft.set("method.quantization", true, "load_in_4bit", place);
    draft.set("method.quantization.type", "nf4", "load_in_4bit", place);
    draft.set("method.quantization.doubleQuant", true, "load_in_4bit", place);
    draft.set("method.quantization.computeDtype", "bf16", "load_in_4bit", place);
  } else if (four && FLAG.read(four.value)) takeBitsAndBytes(draft, args, four.place);
}

export function takeName(draft: Draft, at: Located | undefined, key: string): void {
  if (!at) return;
  const known = settled(at);
  if (typeof known?.value !== "string") {
    if (at.value instanceof Unread) draft.warn(`the model's name is not known: ${at.value.why}`, at.place);
    return;
  }
  if (at.value instanceof Unread)
    draft.warn(`the model is taken as ${known.value}: ${at.value.why}`, at.place);
  draft.set("model", known.value, key, known.place);
}

/** from_config(AutoConfig.from_pretrained(name)) or from_config(LlamaConfig(hidden_size=…)). */
function takeConfig(draft: Draft, at: Located | undefined): void {
  const config = settled(at);
  if (!(config?.value instanceof Made)) return;
  const { callee, args } = config.value;
  if (lastPart(callee) === "from_pretrained")
    return takeName(draft, config.value.argument("pretrained_model_name_or_path", 0), "from_pretrained");
  const type = FAMILIES.flatMap((family) => family.types).find(
    (one) => `${one.replaceAll("_", "")}config` === lastPart(callee).toLowerCase(),
  );
  if (type === undefined) return draft.warn(`${lastPart(callee)} is of no family plans know`, config.place);
  const unread = [...args].find(([, one]) => one.value instanceof Unread);
  if (unread) draft.warn(`${unread[0]}: ${(unread[1].value as Unread).why}`, unread[1].place);
  draft.config = { model_type: type, ...(plain({ value: args, place: config.place }) as object) };
  draft.set("model", type, lastPart(callee), config.place);
  draft.assume("dtype", "fp32", "a model made from sizes alone has PyTorch's default type");
}

/** LlamaForCausalLM(config). */
function takeConstructed(draft: Draft, survey: Survey): void {
  const [site] = survey.named(/(?:ForCausalLM|LMHeadModel)$/);
  if (!site) return;
  takeConfig(draft, survey.made(site).argument("config", 0));
}

/** model.to(torch.bfloat16), model.half(). Written after loading, a cast decides. */
function takeCasts(draft: Draft, survey: Survey): void {
  for (const { last, call, script, place } of survey.named(/^(?:to|half|bfloat16|float)$/)) {
    if (
      call.func.kind !== "Attribute" ||
      call.func.value.kind !== "Name" ||
      !/model|net/i.test(call.func.value.id)
    )
      continue;
    if (last === "half") draft.replace("dtype", "fp16", "half()", place);
    else if (last === "bfloat16") draft.replace("dtype", "bf16", "bfloat16()", place);
    else if (last === "float") draft.replace("dtype", "fp32", "float()", place);
    else
      for (const arg of call.args) {
        const at = settled(survey.evaluator.of(arg.value, script));
        const type = at ? DTYPE.read(at.value) : undefined;
        if (type !== undefined) draft.replace("dtype", type, "to()", place);
      }
  }
}

export function adaptersOf(survey: Survey): readonly Site[] {
  return survey.named(/^(?:Lora|Dora)Config$/).filter(({ call }) => call.args.length > 0);
}

/** LoraConfig, Unsloth's get_peft_model, prepare_model_for_kbit_training. */
export function takeAdapter(draft: Draft, survey: Survey): void {
  const [config, ...others] = adaptersOf(survey);
  if (config) takeLoraConfig(draft, survey.made(config).args, config.place);
  if (others.length > 0) draft.warn("there is another LoraConfig: the first is planned", others[0]!.place);
  const unsloth = survey.sites.find(({ name, last }) => last === "get_peft_model" && UNSLOTH.test(name));
  if (unsloth && !config) {
    const { args } = survey.made(unsloth);
    takeLoraConfig(draft, args, unsloth.place, "get_peft_model");
    // unsloth/models/llama.py: rank 16 by default, checkpoints on unless False, "unsloth" offloads them.
    draft.revise("method.adapter.rank", 16, "not set: the default of Unsloth");
    const checkpointing = args.get("use_gradient_checkpointing");
    if (checkpointing?.value === "unsloth")
      draft.set("checkpointing.offload", true, "use_gradient_checkpointing", checkpointing.place);
    if (checkpointing && truthy(checkpointing))
      draft.set("checkpointing.kind", "full", "use_gradient_checkpointing", checkpointing.place);
  }
  const [prepared] = survey.named(/^prepare_model_for_(?:kbit|int8)_training$/);
  if (prepared && draft.get("method.quantization")) {
    draft.set("method.quantization.prepared", true, prepared.last, prepared.place);
    const use = survey.made(prepared).argument("use_gradient_checkpointing", 1);
    if (!use || truthy(use)) draft.set("checkpointing.kind", "full", prepared.last, prepared.place);
  }
  if (!draft.has("method.kind") && survey.named(/^get_peft_model$/).length > 0)
    draft.assume("method.kind", "lora", "get_peft_model is called with a config that could not be read");
}

const truthy = ({ value }: Located): boolean => value === "unsloth" || FLAG.read(value) === true;
