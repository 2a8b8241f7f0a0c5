import type { Draft } from "../draft.ts";
import { functionNamedIn, mentions } from "./mentions.ts";
import type { Site, Survey } from "./survey.ts";

/** What a loop written by hand does that no argument says: how it steps, how it computes its loss. */
export function takeOwnSteps(draft: Draft, survey: Survey, optimizer: Site): void {
  takeHooks(draft, survey);
  takeHost(draft, survey, optimizer);
  takeLoss(draft, survey);
  const [selective] = survey.named(/^create_selective_checkpoint_contexts$/);
  if (selective && draft.get("checkpointing.kind") === "full")
    draft.replace("checkpointing.kind", "selective", selective.last, selective.place);
}

/** p.register_post_accumulate_grad_hook(hook), whose hook steps. */
function takeHooks(draft: Draft, survey: Survey): void {
  for (const { call, script, last, place } of survey.named(/^register_post_accumulate_grad_hook$/)) {
    const hook = call.args[0]?.value;
    if (hook && mentions(hook, script, survey, /\bstep\(/))
      return draft.set("optimizerInBackward", true, last, place);
  }
}

const ON_HOST = /\.cpu\(\)|["']cpu["']/;

/** An optimizer over copies of the weights that are made in host memory. */
function takeHost(draft: Draft, survey: Survey, { call, script, name, place }: Site): void {
  const given = call.args[0]?.value;
  if (draft.has("optimizerOnHost") || !given) return;
  // `model` itself may be loaded there first.
  if (mentions(given, script, survey, ON_HOST, /from_pretrained|from_config/))
    draft.set("optimizerOnHost", true, name, place);
}

/** checkpoint(f, …) around a cross-entropy of f's own; Liger's loss. */
function takeLoss(draft: Draft, survey: Survey): void {
  const [liger] = survey.named(/^LigerFusedLinearCrossEntropy(?:Loss|Function)$/);
  if (liger) return draft.set("loss", "fused", liger.last, liger.place);
  for (const { call, script, last, place } of survey.named(/^checkpoint$/)) {
    const body = call.args[0] && functionNamedIn(call.args[0].value, script, survey);
    if (body && /cross_entropy\(|CrossEntropyLoss\(/.test(body))
      return draft.set("loss", "chunked", last, place);
  }
}
