import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef, If, Lambda, Node, Subscript } from "../../python/tree.ts";
import { optionBehind } from "./behind-options.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { placedBy } from "./inputs.ts";
import { isHostDefinition, isOnHost, isTelling } from "./likely-numbers.ts";
import { isLossName } from "./naming.ts";
import type { ProjectFacts } from "./project.ts";
import { callTarget } from "./summary.ts";
import { isUsedAsTensor } from "./tensor-use.ts";
import { NUMBER } from "./value.ts";
import type { Value } from "./value.ts";

/**
 * What is likely where nothing is known: by what a value is called and what is done with it, by what a function is called. What
 * rests on it is told as a note.
 */

/** What a network or a loss gives, by its name. */
const COMPUTED =
  /^(?:\w+_)?(?:loss(?:es)?|logits?|preds?|predictions?|outputs?|out|feats?|features?|embs?|embeddings?|embeds?|hiddens?|hidden_states?|latents?|scores?|probs?|log_?probs?|log_?pi|recons?|reconstructions?|fakes?|generated|attn|attention|q_?values?|advantages?|x_hat|y_hat|y_pred|z_e|z_q|mu|logvar|log_var|kl|kld|noise_pred|model_pred|errors?|td_error|entropy|ratio|energy)(?:_[a-z\d])?$/;

export const isComputedName = (name: string): boolean => COMPUTED.test(name);

/** What a step is given to compute with, by its name. */
const GIVEN =
  /^(?:\w+_)?(?:x|y|inputs?|targets?|labels?|masks?|images?|imgs?|gts?|ground_truth|tokens?|input_ids|attention_mask|hidden|states?|actions?|rewards?|dones?|tgt|boxes|pos|coords)$/;

/** `num_predictions`, `in_features`, `use_attention`: counted or chosen. */
const COUNT =
  /^(?:num|n|in|out|len|max|min|dim|d|size|use|is|has|with|add|return|output|do|should|idx|label_idx)_/;

/** `cond_drop_prob`, `expand_ratio`: numbers that a network is built or run with. */
const RATE = /drop|_ratio$|_coef$|(?:^|_)(?:init|keep|flip|swap|mix|mask|aug|skip|start|end)_prob$/;

/** Somebody computes on a device in this file, or in what it is written for. */
const COMPUTES = /torch|cuda|backward|tensor|lightning|accelerat|transformers|loss_fn|optimizer/i;

/**
 * `self.attention`, which the constructor alone writes, as what it is given; also where nobody writes it, by all that the
 * constructor is given at once: `def __init__(self, shift_prob=0.0): save_args(locals())`.
 */
function isOption(expr: Expr, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  if (cls && writes.length === 0) {
    const given = methodsOf(cls)
      .find(({ name }) => name === "__init__")
      ?.params.find(({ name }) => name === own)?.default;
    return given != null && /^(?:Num|Str|Const)$/.test(given.kind);
  }
  return (
    writes.length > 0 &&
    writes.every(
      ({ value }) =>
        value !== null && /^(?:Name|Num|Str|Const|Compare|Bool|Attribute)$/.test(value.kind) && ofInit(value),
    )
  );
}

function ofInit(node: Node): boolean {
  const fn = functionOf(node);
  return fn?.kind === "FunctionDef" && fn.name === "__init__";
}

/** `x.shape`, `x.size()` */
const isSize = (value: Expr | null): boolean =>
  (value?.kind === "Attribute" && value.attr === "shape") ||
  (value?.kind === "Call" && lastWord(value.func) === "size");

/** Where data are made ready, on the host. */
const ON_HOST =
  /^(?:__getitem__|__len__|__init__|_?(?:collate|load|read|parse|preprocess|pre_process|prepare_data|build|make_data|get_data|setup|augment|transform|tokeni[sz]e|encode_text|save|plot|draw|show|visuali[sz]e|dump|write|export|convert)\w*)$/;

/** A tree of no more files than this is likely one program, whatever its imports say: its loaders are for its datasets. */
export const ONE_PROGRAM = 80;

/** What runs in a training step, by its name. */
const STEPS =
  /^_?(?:train(?!er|ing_args|_test_split|_loop|_model|_network|_net)(?:_?(?:step|batch|iter(?:ation)?|one_(?:step|batch|iter(?:ation)?)|on_batch|D|G|generator|discriminator|critic|actor))|training_step|\w*_step|step|update(?:_\w+)?|optimi[sz]e(?:_\w+)?|learn|backward(?:_\w+)?|forward(?:_\w+)?|(?:run|process|handle)_(?:step|batch|iter)|on_(?:train_)?(?:batch|step|iteration)_end|(?:after|before)_(?:\w+_)?(?:step|batch|iter(?:ation)?|backward)|closure|(?:compute|calc|calculate|get)_(?:\w+_)?loss(?:es)?|(?:\w+_)?loss(?:es)?(?:_fn|_func|_function)?|train_(?:on_)?(?:batch|step))$/;

/** What tells, keeps, makes or gathers beside a step: `log_training_step`, `cache_step`, `get_loss_fn`, `reduce_losses`. */
const BESIDE =
  /^_?(?:log|cache|reduce|gather|sync|print|report|record|save|restore|setup|init|make|create|build|register|format|summari[sz]e|infer|generate|test|demo)(?:_|$)|^_?get_(?:current|latest|last|average|avg|mean)_|^_?get_\w*(?:fn|func|function|functions|fns|class|cls|weights?)$/;

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
  // `losses = defaultdict(float)` holds them; it is none.
  if (definition.value?.kind === "Call" && lastWord(definition.value.func) === "defaultdict") return null;
  if (!file.says(COMPUTES)) return null;
  if (COUNT.test(name) || RATE.test(name) || isSize(definition.value)) return null;
  const fn = ofDefinition(definition);
  if (fn?.kind === "FunctionDef" && ON_HOST.test(fn.name)) return null;
  if (
    node.kind === "Param" &&
    (node.star !== 0 || node.default?.kind === "Num" || node.default?.kind === "Str")
  )
    return null;
  if (isHostDefinition(definition, file)) return NUMBER;
  if (isKeyed(definition, file)) return null;
  if (COMPUTED.test(name) && (how !== "param" || isUsedAsTensor(definition, file)))
    return {
      what: how === "unpack" || how === "assign" ? "tensor" : "output",
      device: "network",
      graph: isLossName(name) ? "yes" : "unknown",
    };
  const placed = placedBy(definition, file, true);
  if (placed.includes("numpy") || isLeftOnHost(definition, file))
    return { what: "tensor", device: "cpu", graph: "no" };
  // What is asked back by `.cpu()` is not there; what is sent was.
  if (placed.some((word) => word !== "cpu") || (how === "param" && LENGTHS.test(name))) return null;
  if (isUsedAsTensor(definition, file)) return { what: "tensor", device: "network", graph: "unknown" };
  return isGiven(definition, file) ? { what: "output", device: "network", graph: "unknown" } : null;
}

/** `losses["total"] = total`, `losses.update(loss.item(), n)`: what holds them by their names, or tells their average, and is none. */
function isKeyed(definition: Definition, file: PythonFile): boolean {
  return (
    isLossName(definition.name) &&
    file.scopes
      .uses(definition)
      .some(
        ({ parent }) =>
          (parent?.kind === "Subscript" && parent.index.kind === "Str") ||
          (parent?.kind === "Attribute" && /^(?:avg|update|reset)$/.test(parent.attr)),
      )
  );
}

/** Packed sequences want them on the host. */
const LENGTHS = /(?:^|_)len(?:gth)?s$/;

/** `def forward(self, x, labels)`, `inputs, labels = batch` in a `training_step`. */
function isGiven(definition: Definition, file: PythonFile): boolean {
  const { how, name, value } = definition;
  return (
    (how === "param" || (how === "unpack" && value?.kind === "Name")) &&
    (GIVEN.test(name) || COMPUTED.test(name)) &&
    !(name === "state" && isHook(definition)) &&
    !isOfAxes(definition) &&
    likelyStep(ofDefinition(definition), file) &&
    !isPlainForward(definition)
  );
}

/** `up_x, up_y = up`: a number for each axis. */
function isOfAxes({ name, node }: Definition): boolean {
  const [, word, axis] = /^(\w+_)([xy])\d?$/.exec(name) ?? [];
  const items = node.parent?.kind === "Tuple" ? node.parent.items : [];
  return (
    word !== undefined &&
    items.some(
      (item) => item.kind === "Name" && new RegExp(`^${word}${axis === "x" ? "y" : "x"}\\d?$`).test(item.id),
    )
  );
}

/** The forward of a class without a base, which is no module. */
function isPlainForward(definition: Definition): boolean {
  const fn = ofDefinition(definition);
  return (
    fn?.kind === "FunctionDef" &&
    fn.name === "forward" &&
    fn.parent?.kind === "ClassDef" &&
    fn.parent.args.length === 0
  );
}

/** `def on_step_end(self, args, state, control):` is told how far the training is. */
function isHook(definition: Definition): boolean {
  const fn = ofDefinition(definition);
  return fn?.kind === "FunctionDef" && fn.name.startsWith("on_");
}

/** `names` of `for images, names in loader:`, where the images are sent to the device and these are not. */
function isLeftOnHost({ how, node }: Definition, file: PythonFile): boolean {
  if (how !== "iterate" || node.parent?.kind !== "Tuple") return false;
  return node.parent.items.some((item) => {
    const beside = item === node ? null : file.scopes.definitionAt(item);
    return beside !== null && placedBy(beside, file).some((word) => word === "to" || word === "cuda");
  });
}

/** The function that a name belongs to: its parameters are its own. */
function ofDefinition({ node }: Definition): FunctionDef | Lambda | null {
  return node.kind === "Param" ? (node.parent as FunctionDef | Lambda) : functionOf(node);
}

/** The same of what has no definition: an attribute, an entry, what a call gives. */
export function likelyPart(expr: Expr, file: PythonFile): Value | null {
  if ((expr.kind === "Subscript" && isTold(expr, file)) || !file.says(COMPUTES)) return null;
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
    return (isLossName(word) || /^(?:\w+_)?loss$/.test(word)) &&
      !(expr.args.length > 0 && expr.args.every(({ value }) => isSetting(value))) &&
      !isOnHost(expr, file)
      ? { what: "tensor", device: "network", graph: "yes" }
      : null;
  if (COUNT.test(word) || RATE.test(word) || isSetting(expr) || isOption(expr, file)) return null;
  // `self.losses["total"] = total`
  if (expr.kind === "Attribute" && word.endsWith("losses") && isIndexedByText(word, file)) return null;
  return COMPUTED.test(word)
    ? isOnHost(expr, file)
      ? NUMBER
      : { what: "tensor", device: "network", graph: isLossName(word) ? "yes" : "unknown" }
    : null;
}

const isIndexedByText = (word: string, { text }: PythonFile): boolean =>
  text.includes(`.${word}["`) || text.includes(`.${word}['`);

/** `losses["total"]` of `losses = agent.update(batch)`, or of what differentiates it here and reads it. */
function isTold({ value }: Subscript, file: PythonFile): boolean {
  const makers = value.kind === "Name" ? file.scopes.reaching(value) : [];
  return makers.some(({ value: made }) => {
    if (made?.kind !== "Call") return false;
    const fn = file.functionNamed(callTarget(made, file));
    const code = fn ? file.codeOf(fn) : "";
    return (
      isTelling(lastWord(made.func)) || (/backward\(/.test(code) && /\.(?:cpu|item|tolist)\(/.test(code))
    );
  });
}

/** `options.seed`, `0.1`, "mean" */
function isSetting(expr: Expr): boolean {
  if (expr.kind === "Attribute")
    return (
      /^(?:args?|opts?|options|cfg|config|hparams|hps?)$/.test(lastWord(expr.value)) || isSetting(expr.value)
    );
  return expr.kind === "Num" || expr.kind === "Str" || expr.kind === "Const";
}

/** Whether a function runs once a step, by its name and where it stands. */
export function likelyStep(fn: FunctionDef | Lambda | null, file: PythonFile): boolean {
  if (
    fn?.kind !== "FunctionDef" ||
    JUDGES.test(fn.name) ||
    ON_HOST.test(fn.name) ||
    BESIDE.test(fn.name) ||
    isOfExample(fn, file)
  )
    return false;
  const cls = classOf(fn);
  if (
    cls &&
    /Dataset|Sampler|Transform|Collat|Scheduler|Processor|Tokenizer|Config|Eval|Env|Metric|Matrix|Accuracy|Score|F1|Augment|Logger|Tracker|Meter|Export|Infer|Backend/.test(
      cls.name,
    )
  )
    return false;
  // `def loss_boxes(self, outputs, targets)` of a criterion that has several, and takes those with a weight.
  const isTerm = cls !== null && /Criterion|Loss/.test(cls.name) && fn.name.startsWith("loss_");
  return (isTerm || STEPS.test(fn.name) || takesOneStep(fn, file)) && file.says(TRAINS);
}

/** `def train_from_torch(self, batch)`: differentiates and steps, and neither in a loop. */
function takesOneStep(fn: FunctionDef, file: PythonFile): boolean {
  if (!/^_?(?:train|fit|learn|update|optimi[sz]e)/.test(fn.name)) return false;
  return ["backward", "step"].every((name) => {
    const calls = file.callsNamed(name).filter((call) => functionOf(call) === fn);
    return calls.length > 0 && !calls.some(isInLoop);
  });
}

/** What is called here, but by the example at the end of its file alone: `if __name__ == "__main__":` and nothing else. */
function isOfExample(fn: FunctionDef, file: PythonFile): boolean {
  if (fn.parent?.kind !== "Module") return false;
  const calls = file.callsNamed(fn.name).filter((call) => file.dotted(call.func) === file.qualified(fn));
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const by = functionOf(call);
      return (
        by === fn ||
        (by === null ? !isInLoop(call) : /^_?(?:test|demo|example|main$)/.test(nameOf(by)) && !isInLoop(call))
      );
    })
  );
}

const nameOf = (fn: FunctionDef | Lambda): string => (fn.kind === "FunctionDef" ? fn.name : "");

function isInLoop(node: Node): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "For" || at.kind === "While") return true;
  return false;
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

/** Tests that hold on few steps, or only for who asks: `if args.debug:`, `if torch.isnan(loss):`. */
const SELDOM =
  /verbos|debug|log_?level|profil|is_?nan|is_?inf|isfinite|is_listener|OutOfMemory|overflow|diverged/i;

/** Whether a node stands under what holds seldom, as it seems: such a test, an error that is caught, an option that is off by default. */
export function isSeldom(node: Node, within: Node, file: PythonFile, project: ProjectFacts): boolean {
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind === "Handler") return true;
    if (at.kind !== "If" || child === at.test) continue;
    const isElse = at.orelse.includes(child as never);
    if (
      isElse
        ? file.textOf(at.test).endsWith(".any()")
        : holdsSeldom(at.test, file) && !isHandedOn(at, file, project)
    )
      return true;
  }
  return false;
}

/** In a branch that ends in an error, `if not legal.all(): bad = legal.tolist(); raise …`: on no step that goes on. */
export function isBeforeError(node: Node, within: Node): boolean {
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    if ((at.body.includes(child as never) ? at.body : at.orelse).at(-1)?.kind === "Raise") return true;
  }
  return false;
}

/** `if entity:` of `def loss(logits, entity=False)`, which somebody calls with it. */
function isHandedOn(branch: If, file: PythonFile, project: ProjectFacts): boolean {
  const [one, ...more] = branch.test.kind === "Name" ? file.scopes.reaching(branch.test) : [];
  const fn = one?.node.kind === "Param" ? one.node.parent : null;
  if (more.length > 0 || fn?.kind !== "FunctionDef" || SELDOM.test(one!.name)) return false;
  return fn.parent?.kind === "Module"
    ? optionBehind(branch.body[0]!, file, project) === null && isCalled(fn, file, project)
    : file.calls.given([one!.name]).some((call) => isTrue(keyword(call, one!.name)?.value ?? null));
}

const isCalled = (fn: FunctionDef, file: PythonFile, project: ProjectFacts): boolean =>
  (project.handed.get(file.qualified(fn)) ?? []).length > 0 ||
  file.callsNamed(fn.name).some((call) => file.dotted(call.func) === file.qualified(fn));

function holdsSeldom(test: Expr, file: PythonFile): boolean {
  if (test.kind === "Bool" && test.op === "and") return test.values.some((one) => holdsSeldom(one, file));
  if (SELDOM.test(file.textOf(test))) return true;
  if (isForNow(test, file)) return true;
  // `def forward(self, ids, is_training=False)`: a training asks for it.
  if (
    test.kind === "Name" &&
    /^(?:(?:is|in|for)_)?train(?:ing)?$|^(?:return|compute|calc)_loss$/.test(test.id)
  )
    return false;
  if (test.kind === "Name")
    return file.scopes
      .reaching(test)
      .some(
        ({ node, value }) =>
          (node.kind === "Param" && node.default?.kind === "Const" && node.default.value === false) ||
          (value !== null && file.textOf(value).includes("%")),
      );
  // `self.should_log = step % self.every == 0` above.
  return test.kind === "Attribute" && new RegExp(`\\b${test.attr} *= *[^=\\n]*%`).test(file.text);
}

/** `if metrics is not None:` of `metrics = tracker.end_step(…)`, which has some now and then; `if CHECKS:` of a switch that is off. */
function isForNow(test: Expr, file: PythonFile): boolean {
  const asked =
    test.kind === "Compare" && test.ops[0] === "is not" && test.rights[0]?.kind === "Const"
      ? test.left
      : test;
  if (asked.kind !== "Name") return false;
  const [made, ...more] = file.scopes.reaching(asked);
  if (!made?.value || more.length > 0 || made.how !== "assign") return false;
  return asked === test
    ? /^[A-Z_\d]+$/.test(asked.id) && /environ|getenv|^False$/.test(file.textOf(made.value))
    : made.value.kind === "Call" && /metrics?$|stats$|logs?$|report$|summary$/.test(asked.id);
}
