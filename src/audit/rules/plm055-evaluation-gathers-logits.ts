import { argument, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments } from "../facts/arguments.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

const TRAINERS = /Trainer$/;

/** Of the model, not of the training. */
const NO_SETTINGS = /^(?:BitsAndBytes|Generation|Auto|Lora)Config$/;

export const rule: Rule = {
  meta: {
    code: "PLM055",
    name: "evaluation-gathers-logits",
    summary:
      "A Trainer computes metrics from logits that it keeps on the device for the whole evaluation set",
    severity: "warning",
    fix: "unsafe",
    patterns: [55],
  },
  *check(facts) {
    const { file } = facts;
    if (file.calls.matching(TRAINERS).length === 0) return;
    if (!file.mentions("compute_metrics") && file.callsNamed("predict").length === 0) return;
    // Whatever it is called: `SFTTrainerThatSaves as SFTTrainer`.
    const isHeir = (call: Call): boolean => facts.roleOfName(file.dotted(call.func) ?? "") === "trainer";
    const named = (pattern: RegExp): Call[] =>
      file
        .all("Call")
        .filter(
          (call) =>
            pattern.test(last(file.dotted(call.func) ?? "")) &&
            (/^(?:transformers|trl)\./.test(file.dotted(call.func) ?? "") || isHeir(call)),
        );
    const trainers = [...new Set([...named(/Trainer$/), ...file.calls.matching(TRAINERS).filter(isHeir)])];
    // The metrics want logits, and nothing shrinks them first.
    const later = trainers.length > 0 && file.says(/\btrainer\.compute_metrics\s*=/);
    const measures = (call: Call): boolean => later || given(call, "compute_metrics", file) !== null;
    // `trainer.predict(…)` gathers them whoever measures.
    const asked = (word: string): Set<Call> =>
      new Set(
        file.callsNamed(word).flatMap(({ func }) => {
          const from = func.kind === "Attribute" ? func.value : null;
          const own = from ? selfAttribute(from) : null;
          const writes = own === null ? [] : (attributesOf(classOf(from!)!, file).get(own)?.writes ?? []);
          const made =
            from?.kind === "Name"
              ? file.scopes.onlyValue(from)
              : writes.length === 1
                ? writes[0]!.value
                : null;
          return made?.kind === "Call" && trainers.includes(made) ? [made] : [];
        }),
      );
    const predicting = asked("predict");
    const evaluating = asked("evaluate");
    if (!trainers.some((call) => measures(call) || predicting.has(call))) return;
    if (
      trainers.some(
        (call) =>
          isGiven(call, "preprocess_logits_for_metrics", file) ||
          // `**data_module` beside the metrics brings the data.
          (hidesArguments(call, file) && keyword(call, "compute_metrics") === null),
      )
    )
      return;
    const settings = named(/^(?:Training|Seq2SeqTraining)Arguments$|^\w+Config$/);
    const isSeen = (trainer: Call): boolean =>
      settingsOf(trainer, facts).some((one) => settings.includes(one as Call));
    // Parsed from the command line or put together elsewhere, they may say how often to move them.
    const untold = (trainer: Call): boolean =>
      !/eval_accumulation_steps|prediction_loss_only(?!\s*=\s*False)/.test(file.text) &&
      (!/predict_with_generate|batch_decode/.test(file.text) || wantsLogits(trainer, file));
    for (const trainer of trainers)
      if (
        untold(trainer) &&
        settings.every(
          (call) => hidesArguments(call, file) || NO_SETTINGS.test(last(file.dotted(call.func) ?? "")),
        ) &&
        isGiven(trainer, "compute_metrics", file) &&
        (given(trainer, "eval_dataset", file) !== null ||
          (hidesArguments(trainer, file) &&
            (file.mentions("eval_dataset") || (facts.guesses && isHandedData(trainer))))) &&
        !isSmall(modelOf(trainer, facts) || file.text)
      )
        yield { at: trainer, severity: "note", message: MESSAGE };
    for (const call of settings) {
      const mine = trainers.filter((trainer) => settingsOf(trainer, facts).includes(call));
      const evaluates =
        given(call, "eval_strategy", file) ??
        given(call, "evaluation_strategy", file) ??
        given(call, "do_eval", file);
      const never =
        !evaluates ||
        (evaluates.kind === "Str" && evaluates.value === "no") ||
        (evaluates.kind === "Const" && evaluates.value !== true);
      const called = mine.some((one) => predicting.has(one) || (measures(one) && evaluating.has(one)));
      if (never && !called) continue;
      if (
        ["eval_accumulation_steps", "predict_with_generate", "prediction_loss_only"].some((key) =>
          isGiven(call, key, file),
        ) ||
        hidesArguments(call, file)
      )
        continue;
      // Where it is seen which trainers these are for, those are asked.
      if (mine.length > 0 && !mine.some((one) => measures(one) || predicting.has(one))) continue;
      if (mine.length === 0 && trainers.every(isSeen)) continue;
      const models = mine.map((trainer) => modelOf(trainer, facts));
      // `get_peft_model(model, …)` does not say what it wraps.
      const seen = models.length > 0 && models.every((model) => /For[A-Z]|LM/.test(model));
      const hidden = mine.some((trainer) => hidesArguments(trainer, file));
      const small = hidden || isSmall(seen ? models.join() : file.text) || (!seen && !mine.some(measures));
      const none = given(call, "eval_accumulation_steps", file);
      yield {
        at: call,
        ...(small ? { severity: "note" as const } : {}),
        message: MESSAGE,
        fix: {
          grade: "unsafe",
          title: "Move them to the host every 16 batches",
          edits: none
            ? [{ start: none.start, end: none.end, text: "16" }]
            : addKeyword(call, "eval_accumulation_steps=16", file),
        },
      };
    }
  },
};

const MESSAGE =
  "Without `eval_accumulation_steps` the logits of the whole evaluation set stay on the device until it ends";

/** `**data_module`, made elsewhere, where no data are named: who measures has some to evaluate on among it. */
function isHandedData(trainer: Call): boolean {
  return (
    trainer.args.some(({ star }) => star === 2) &&
    !trainer.args.some(({ name }) => name === "train_dataset" || name === "eval_dataset")
  );
}

/** The metrics look for the largest of them, which texts that were generated have none of. */
function wantsLogits(trainer: Call, file: PythonFile): boolean {
  const metrics = given(trainer, "compute_metrics", file);
  const [one, ...more] = metrics?.kind === "Name" ? file.scopes.reaching(metrics) : [];
  return (
    one?.node.kind === "FunctionDef" &&
    more.length === 0 &&
    /\bargmax\(/.test(file.codeOf(one.node)) &&
    !/decode/.test(file.codeOf(one.node))
  );
}

/** Something other than `None` or `False`. */
function isGiven(call: Call, name: string, file: PythonFile): boolean {
  const value = given(call, name, file);
  return value !== null && !(value.kind === "Const" && (value.value === null || value.value === false));
}

/** A row of class scores for each example is small; a vocabulary for each token is not. */
function isSmall(text: string): boolean {
  return (
    /For(?:Sequence|Image|Audio|Video)Classification|ForMultipleChoice/.test(text) &&
    !/CausalLM|Seq2Seq|MaskedLM|ConditionalGeneration|TokenClassification|QuestionAnswering|Segmentation/.test(
      text,
    )
  );
}

/** What `args=` of a trainer may have been made by. */
function settingsOf(trainer: Call, { file }: Facts): readonly Expr[] {
  const settings = argument(trainer, "args", 1);
  if (settings?.kind !== "Name") return settings ? returned(settings, file) : [];
  return file.scopes.reaching(settings).flatMap(({ value }) => (value ? returned(value, file) : []));
}

/** What a function of this file hands out, where it is a call of one: `args=build_arguments(config)`. */
function returned(made: Expr, file: PythonFile): readonly Expr[] {
  const name = made.kind === "Call" ? callTarget(made, file) : null;
  return (name === null ? undefined : file.once(returnsByName).get(name)) ?? [made];
}

/** What the trainer's model is made by, as it is written; "" where that is not seen. */
function modelOf(trainer: Call, { file }: Facts): string {
  const model = argument(trainer, "model", 0);
  const made = model?.kind === "Name" ? file.scopes.reaching(model) : [];
  const text = made.every(({ value }) => value?.kind === "Call")
    ? made.map(({ value }) => file.textOf(value!)).join()
    : "";
  // `get_peft_model(model, config)` does not say what it wraps.
  return /For[A-Z]\w+|LM\w*\b/.test(text) ? text : "";
}
