import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef, Lambda, Node } from "../../python/tree.ts";
import { isPlaced } from "./inputs.ts";
import { isLossName } from "./naming.ts";
import { isUsedAsTensor } from "./tensor-use.ts";
import type { Value } from "./value.ts";

/**
 * What is likely where nothing is known: by what a value is called and what is done with it, by what a function is called. What
 * rests on it is told as a note.
 */

/** What a network or a loss gives, by its name. */
const COMPUTED =
  /^(?:\w+_)?(?:loss(?:es)?|logits?|preds?|predictions?|outputs?|out|feats?|features?|embs?|embeddings?|embeds?|hiddens?|hidden_states?|latents?|scores?|probs?|log_?probs?|log_?pi|recons?|reconstructions?|fakes?|generated|attn|attention|q_?values?|advantages?|x_hat|y_hat|y_pred|z_e|z_q|mu|logvar|log_var|kl|kld|noise_pred|model_pred|errors?|td_error|entropy|ratio|energy)(?:_[a-z\d])?$/;

export const isComputedName = (name: string): boolean => COMPUTED.test(name);

/** Where data are made ready, on the host. */
const ON_HOST =
  /^(?:__getitem__|__len__|__init__|_?(?:collate|load|read|parse|preprocess|pre_process|prepare_data|build|make_data|get_data|setup|augment|transform|tokeni[sz]e|encode_text|save|plot|draw|show|visuali[sz]e|dump|write|export|convert)\w*)$/;

/** What trains or evaluates by itself, and hands back the numbers: `loss = train(x, y)`, `val_loss = evaluate(net, loader)`. */
const TELLS =
  /^_?(?:train|test|eval\w*|valid\w*|fit|run_epoch|(?:train|test|val)_(?:epoch|one_epoch|loop|model))$/;

export const isTelling = (name: string): boolean => TELLS.test(name);

/** What runs in a training step, by its name. */
const STEPS =
  /^_?(?:train(?!er|ing_args|_test_split|_loop|_model|_network|_net)(?:_?(?:step|batch|iter(?:ation)?|one_(?:step|batch|iter(?:ation)?)|on_batch|D|G|generator|discriminator|critic|actor))|training_step|\w*_step|step|update(?:_\w+)?|optimi[sz]e(?:_\w+)?|learn|backward(?:_\w+)?|forward(?:_\w+)?|run_(?:step|batch|iter)|(?:compute|calc|calculate|get)_(?:\w+_)?loss(?:es)?|(?:\w+_)?loss(?:es)?(?:_fn|_func|_function)?|train_(?:on_)?(?:batch|step))$/;

/** What a file says that trains or helps to. */
const TRAINS = /backward|optimizer|zero_grad|loss|Trainer\b/;

const JUDGES = /eval|valid|(?:^|_)val(?:_|$)|test|infer|predict|generat|sampl|scheduler|lr_|ema/i;

/** By its name what a network or a loss gives. */
export const soundsComputed = (name: string): boolean => COMPUTED.test(name);

/** A value that nothing is known of, by its name and its uses. */
export function likelyValue(definition: Definition, file: PythonFile): Value | null {
  const { name, how, node } = definition;
  if (how === "function" || how === "class" || how === "import" || how === "delete") return null;
  if (definition.value?.kind === "Call" && isTelling(lastWord(definition.value.func))) return null;
  const fn = functionOf(node);
  if (fn?.kind === "FunctionDef" && ON_HOST.test(fn.name)) return null;
  if (
    node.kind === "Param" &&
    (node.star !== 0 || node.default?.kind === "Num" || node.default?.kind === "Str")
  )
    return null;
  if (COMPUTED.test(name) && (how !== "param" || isUsedAsTensor(definition, file)))
    return {
      what: how === "unpack" || how === "assign" ? "tensor" : "output",
      device: "network",
      graph: isLossName(name) ? "yes" : "unknown",
    };
  if (isUsedAsTensor(definition, file) && !isPlaced(definition, file))
    return { what: "tensor", device: "network", graph: "unknown" };
  return null;
}

/** The same of what has no definition: an attribute, an entry, what a call gives. */
export function likelyPart(expr: Expr): Value | null {
  const word =
    expr.kind === "Subscript"
      ? expr.index.kind === "Str"
        ? (expr.index.value ?? "")
        : ""
      : expr.kind === "Attribute"
        ? expr.attr
        : expr.kind === "Call"
          ? lastWord(expr.func)
          : "";
  if (expr.kind === "Call")
    return isLossName(word) || /^(?:\w+_)?loss$/.test(word)
      ? { what: "tensor", device: "network", graph: "yes" }
      : null;
  return COMPUTED.test(word)
    ? { what: "tensor", device: "network", graph: isLossName(word) ? "yes" : "unknown" }
    : null;
}

/** Whether a function runs once a step, by its name and where it stands. */
export function likelyStep(fn: FunctionDef | Lambda | null, file: PythonFile): boolean {
  if (fn?.kind !== "FunctionDef" || JUDGES.test(fn.name) || ON_HOST.test(fn.name)) return false;
  const cls = classOf(fn);
  if (cls && /Dataset|Sampler|Transform|Collat|Scheduler|Processor|Tokenizer|Config|Eval|Env/.test(cls.name))
    return false;
  return STEPS.test(fn.name) && file.says(TRAINS);
}

/** Whether a loop goes through batches that are trained on, by what it goes over and who does. */
export function likelyTraining(loop: Node, file: PythonFile): boolean {
  if (loop.kind !== "For") return false;
  const fn = functionOf(loop);
  if (
    fn?.kind === "FunctionDef" &&
    (JUDGES.test(fn.name) || !/train|fit|learn|run|main|epoch/i.test(fn.name))
  )
    return false;
  const over = file.textOf(loop.iter);
  return (
    /load|_dl\b|batches/i.test(over) &&
    !/val|test|eval|dev/i.test(over) &&
    /\b(?:step|train\w*|update\w*|optimi[sz]e\w*|backward\w*|learn)\(/.test(file.codeOf(loop))
  );
}
