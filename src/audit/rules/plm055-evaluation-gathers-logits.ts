import type { PythonFile } from "../../python/file.ts";
import type { Call } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments } from "../facts/arguments.ts";
import { last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

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
    if (!file.mentions("compute_metrics")) return;
    const named = (pattern: RegExp): Call[] =>
      file
        .all("Call")
        .filter(
          (call) =>
            pattern.test(last(file.dotted(call.func) ?? "")) &&
            (/^(?:transformers|trl)\./.test(file.dotted(call.func) ?? "") ||
              facts.project.roles.get(file.dotted(call.func) ?? "") === "trainer"),
        );
    const trainers = named(/Trainer$/);
    // The metrics want logits, and nothing shrinks them first.
    if (
      !(trainers.length > 0 && /\btrainer\.compute_metrics\s*=/.test(file.text)) &&
      !trainers.some((call) => given(call, "compute_metrics", file))
    )
      return;
    if (
      trainers.some(
        (call) => isGiven(call, "preprocess_logits_for_metrics", file) || hidesArguments(call, file),
      )
    )
      return;
    // A row of class scores for each example is small; a vocabulary for each token is not.
    const small =
      /For(?:Sequence|Image|Audio|Video)Classification|ForMultipleChoice/.test(file.text) &&
      !/CausalLM|Seq2Seq|MaskedLM|ConditionalGeneration|TokenClassification|QuestionAnswering|Segmentation/.test(
        file.text,
      );
    for (const call of named(/^(?:Training|Seq2SeqTraining)Arguments$|^\w+Config$/)) {
      const evaluates =
        given(call, "eval_strategy", file) ??
        given(call, "evaluation_strategy", file) ??
        given(call, "do_eval", file);
      if (
        !evaluates ||
        (evaluates.kind === "Str" && evaluates.value === "no") ||
        (evaluates.kind === "Const" && evaluates.value !== true)
      )
        continue;
      if (
        ["eval_accumulation_steps", "predict_with_generate", "prediction_loss_only"].some((key) =>
          isGiven(call, key, file),
        ) ||
        hidesArguments(call, file)
      )
        continue;
      const none = given(call, "eval_accumulation_steps", file);
      yield {
        at: call.func,
        ...(small ? { severity: "note" as const } : {}),
        message:
          "Without `eval_accumulation_steps` the logits of the whole evaluation set stay on the device until it ends",
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

/** Something other than `None`. */
function isGiven(call: Call, name: string, file: PythonFile): boolean {
  const value = given(call, name, file);
  return value !== null && !(value.kind === "Const" && value.value === null);
}
