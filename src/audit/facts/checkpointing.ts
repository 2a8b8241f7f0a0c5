import { argument, isFalse, isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Assign, Call, Expr } from "../../python/tree.ts";
import { argumentFields } from "./argument-fields.ts";
import { entry, given, literalDict } from "./arguments.ts";

/** One place that turns on activation checkpointing of a whole model. */
interface CheckpointingSwitch {
  readonly at: Expr;
  readonly call: Call;
  /** What its settings say about the path taken; null where they say nothing. */
  readonly useReentrant: Expr | null;
}

/** `gradient_checkpointing: bool = field(default=True)` of arguments that a script makes its own, and that say no more of it. */
export function checkpointingFields(file: PythonFile): readonly Assign[] {
  if (file.mentions("gradient_checkpointing_kwargs")) return [];
  return argumentFields(file, "gradient_checkpointing", false).flatMap(({ at, value }) =>
    isTrue(value) ? [at] : [],
  );
}

const SETTINGS = /(?:Arguments|Config)$/;

/** `model.gradient_checkpointing_enable()` and `gradient_checkpointing=True` of any call. */
export function checkpointingSwitches(file: PythonFile): readonly CheckpointingSwitch[] {
  const found: CheckpointingSwitch[] = [];
  const switching = new Set([
    ...file.callsNamed("gradient_checkpointing_enable"),
    ...file.calls.given(["gradient_checkpointing"]),
    // `TrainingArguments(**settings)`
    ...file.calls
      .matching(SETTINGS)
      .filter((call) => call.args.some(({ star }) => star === 2) && file.mentions("gradient_checkpointing")),
  ]);
  for (const call of switching) {
    const enabling = call.func.kind === "Attribute" && call.func.attr === "gradient_checkpointing_enable";
    const flag = given(call, "gradient_checkpointing", file);
    const said = given(call, "gradient_checkpointing_kwargs", file);
    // By an option that may be off, but then nobody would say how.
    if (!enabling && !isTrue(flag) && (!said || !flag || isFalse(flag))) continue;
    const settings = said ?? (enabling ? (call.args[0]?.value ?? null) : null);
    const dict = settings && literalDict(settings, file);
    found.push({
      at: enabling ? call : flag!,
      call,
      useReentrant: dict ? entry(dict, "use_reentrant") : null,
    });
  }
  return found;
}

/** `get_peft_model(model, config)`, and what else puts adapters around a model. */
export function wrapsInAdapters(file: PythonFile): readonly Call[] {
  return file
    .callsNamed("get_peft_model", "PeftModelForCausalLM", "PeftModelForSeq2SeqLM", "PeftModel")
    .filter((call) => /^peft\.(?:get_peft_model|PeftModel\w*)$/.test(file.dotted(call.func) ?? ""));
}

/** What prepares a quantized model, and makes its embeddings' output require gradients. */
export function feedingPreparations(file: PythonFile): readonly Call[] {
  return file
    .callsNamed("prepare_model_for_kbit_training", "prepare_model_for_int8_training")
    .filter((call) => !isFalse(argument(call, "use_gradient_checkpointing", 1)));
}

/** Heads, which are behind all that is checkpointed, and norms, which are inside or behind it. */
export const HEADS = /^(?:lm_head|score|classifier|\w*(?:norm|ln)(?:_\w+)?)$/;

/** Each of these makes the embeddings' output require gradients, or trains the embeddings; `"modules_to_save" in name` only asks. */
const FEEDS =
  /enable_input_require_grads|make_inputs_require_grad|["']modules_to_save(?!\.?["']\s+(?:not\s+)?in\b)|requires_grad_?\(\s*True|["']embed_tokens["']\s*[,\]]|embed_tokens\.(?:weight\.)?requires_grad/;

/** So do prompts that are learnt, where no other kind of adapter may be chosen instead. */
const PROMPTS = /Prompt(?:Tuning|Encoder)/;

/**
 * Models of unsloth see to it themselves; where it is one of two ways to a model, `if args.use_unsloth: …`, those that transformers
 * loads and peft wraps in another function are none of them.
 */
function isOfUnsloth(file: PythonFile): boolean {
  return (
    file.text.includes("unsloth") &&
    !wrapsInAdapters(file).some((wrap) => {
      const fn = functionOf(wrap);
      return (
        fn !== null &&
        !/unsloth|FastLanguageModel|FastModel|FastVisionModel/.test(file.codeOf(fn)) &&
        file
          .callsNamed("from_pretrained")
          .some(
            (call) =>
              functionOf(call) === fn && /^transformers\.\w*Model\w*\./.test(file.dotted(call.func) ?? ""),
          )
      );
    })
  );
}

/** Whether gradients get into the first checkpoint whatever the options are; a head that is trained does not see to it. */
export function feedsAlways(file: PythonFile): boolean {
  return (
    FEEDS.test(file.text) ||
    isOfUnsloth(file) ||
    (PROMPTS.test(file.text) && file.callsNamed("LoraConfig").length === 0)
  );
}

/** The same, or by a preparation or by modules that are trained whole, in some of its runs. */
export function feedsGradients(file: PythonFile): boolean {
  return (
    feedingPreparations(file).length > 0 ||
    feedsAlways(file) ||
    /modules_to_save\s*=(?!\s*None\b|\s*\[\s*["'](?:lm_head|score|classifier)["']\s*\])/.test(file.text)
  );
}
