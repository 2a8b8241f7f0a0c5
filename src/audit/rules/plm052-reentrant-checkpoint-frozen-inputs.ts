import { argument, isFalse, isNone, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import {
  ancestors,
  classOf,
  contains,
  functionOf,
  lastWord,
  namesIn,
  statementOf,
} from "../../python/nodes.ts";
import type { Assign, Call, Expr, Node, NodeOf } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { entry, hidesArguments, literalDict } from "../facts/arguments.ts";
import {
  checkpointingFields,
  checkpointingSwitches,
  feedingPreparations,
  feedsAlways,
  feedsGradients,
  HEADS,
  wrapsInAdapters,
} from "../facts/checkpointing.ts";
import { optionBehind } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import { holdsOptions } from "../facts/options.ts";
import type { Finding, Fix, Rule } from "../rule.ts";
import { freezesEmbeddings, freezesRest, freezesTable } from "../facts/frozen-embeddings.ts";

const UNSAID =
  "On transformers 4 this takes the reentrant path, and under LoRA the embeddings are frozen: no input of a checkpoint requires gradients, and the adapters get none; version 5 takes the other path";

const FOUR =
  "On transformers 4 this takes the reentrant path, and the embeddings are frozen: no input of a checkpoint requires gradients, and what it runs gets none; version 5 takes the other path";

const FROZEN =
  "Under LoRA the embeddings are frozen, so no input of a reentrant checkpoint requires gradients: the adapters get none, or backward raises";

const SETTINGS = "gradient_checkpointing_kwargs";

const NOTE = { severity: "note" as const };

export const rule: Rule = {
  meta: {
    code: "PLM052",
    name: "reentrant-checkpoint-frozen-inputs",
    summary: "Reentrant checkpointing of a LoRA model whose embeddings are frozen: no gradient gets through",
    severity: "error",
    fix: "unsafe",
    patterns: [52],
  },
  *check(facts) {
    const { file } = facts;
    if (facts.guesses) {
      yield* likelyAsked(facts);
      return yield* likelyFrozen(facts);
    }
    if (file.callsNamed("checkpoint", "checkpoint_sequential").length > 0) yield* byHand(facts);
    const wraps = wrapsInAdapters(file);
    // Or a function of another file does it, before this one trains the model.
    const adapted = wraps.length > 0 || facts.project.adapted.has(file.module);
    if (!adapted) yield* frozenEmbeddings(file);
    const fed = adapted && feedsGradients(file);
    if (wraps.length > 0) yield* ofFeatures(wraps, fed, file);
    if (!adapted || (fed && !isFedByOptionsOnly(facts))) return;
    const hasTrl = file.says(/^[ \t]*(?:from|import) trl\b/m) && !wrapsForOldTrl(file);
    const beside = hasTrl && trainsBesideTrl(wraps, file);
    const byTrl = hasTrl && !beside;
    for (const at of fed || byTrl ? [] : reentrantWrappers(file))
      if (at.parent?.kind !== "IfExp") yield { at, ...NOTE, message: FROZEN };
    for (const at of byTrl ? [] : [...checkpointingFields(file), ...switchedLater(file)])
      yield {
        at,
        severity: "note",
        message: UNSAID,
      };
    for (const at of byTrl ? [] : toldLater(file))
      yield {
        at,
        ...(fed || beside || !isSwitchedOn(file) ? NOTE : byWraps(wraps)),
        message: FROZEN,
        fix: unreentrant(at),
      };
    for (const call of byTrl ? [] : onByOptions(facts))
      if (isPathUnsaid(call, file)) yield pathUnsaid(call, facts);
    for (const { at, call, useReentrant } of checkpointingSwitches(file)) {
      // A trainer of trl that is told to checkpoint makes the inputs require gradients; what is switched on by hand it does not see.
      if (byTrl && at !== call) continue;
      // Before the wrapping peft itself sees that checkpointing is on, and makes the inputs require gradients; not of a quantized model.
      const enabling = at === call;
      const later =
        file.says(QUANTIZED) ||
        wraps.some((wrap) => wrap.start < call.start && functionOf(wrap) === functionOf(call)) ||
        isMadeWithAdapters(call, wraps, file);
      // The Trainer switches it on when it trains, which is after the wrapping.
      const unsaid = enabling ? later && call.args.length === 0 : isPathUnsaid(call, file);
      if (!useReentrant && unsaid) yield pathUnsaid(call, facts);
      if (!useReentrant || !isTrue(useReentrant)) continue;
      const seen = enabling && !later;
      yield {
        at: useReentrant,
        ...(seen || fed || beside ? NOTE : byWraps(wraps)),
        message: seen
          ? "Under LoRA the embeddings are frozen; gradients get through a reentrant checkpoint only because peft, which sees this when it wraps the model, hooks the embeddings, and it does not for a quantized one: the other path needs no help"
          : FROZEN,
        fix: unreentrant(useReentrant),
      };
    }
  },
};

/**
 * A reentrant path that somebody asks for, by `use_reentrant=True` or `CheckpointImpl.REENTRANT`, or that transformers 4 takes where
 * nobody says so, in a program that freezes something: what reaches the first checkpoint may well require no gradients.
 */
function* likelyFrozen({ file, project }: Facts): Generator<Finding> {
  // A network of this file, of a program that freezes its embeddings in another; of its own it is known which they are.
  const isFrozenElsewhere = project.frozenInputs.has(file.module) && !freezesEmbeddings(file);
  const freezes = isFrozenElsewhere || file.says(FROZEN_HERE);
  const mayFreeze =
    freezes ||
    project.adapted.has(file.module) ||
    project.quantizedUnfed ||
    [...project.options.keys()].some((name) => /freez|lora|adapter/i.test(name));
  // Trainers of trl see to the inputs themselves, and so does what puts adapters into a model of transformers.
  if (!mayFreeze || isFed(file) || file.says(/^[ \t]*(?:from|import) trl\b|\badd_adapter\(/m)) return;
  const asked: Expr[] = file.calls
    .given(["use_reentrant"])
    .filter((call) => isFrozenElsewhere || isUnrecorded(call, file))
    .map((call) => keyword(call, "use_reentrant")!.value)
    .filter((value) => isTrue(value));
  for (const dict of file.mentions("use_reentrant") ? file.all("Dict") : []) {
    const value = entry(dict, "use_reentrant");
    if (isTrue(value)) asked.push(value!);
  }
  asked.push(...reentrantWrappers(file));
  for (const at of asked)
    yield {
      at,
      message:
        "Something is frozen here, and where no input of a reentrant checkpoint requires gradients, what it runs gets none; the other path needs no help",
    };
  const isBaseFrozen = file.says(BASE_FROZEN);
  if (
    !(isBaseFrozen || project.quantizedUnfed) ||
    ["peft", "trl", "diffusers", "use_reentrant"].some((word) => file.mentions(word))
  )
    return;
  for (const { at, call } of checkpointingSwitches(file))
    if (at === call ? call.args.length === 0 : isBaseFrozen)
      yield { at, message: isBaseFrozen ? UNSAID_FROZEN : UNSAID_QUANTIZED };
}

/**
 * `get_peft_model(model, config)` in a script whose command line is that of transformers, and which speaks of its
 * `--gradient_checkpointing` without a word of the path: `if training_args.gradient_checkpointing: …`.
 */
function* likelyAsked(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const wraps = wrapsInAdapters(file);
  if (wraps.length === 0 || !parsesForTrainer(file)) return;
  if (file.mentions(SETTINGS) || file.mentions("use_reentrant") || checkpointingSwitches(file).length > 0)
    return;
  const isAsked = file
    .all("Attribute")
    .some((one) => one.attr === "gradient_checkpointing" && holdsOptions(one.value) && !isSet(one));
  // What trl trains, it sees to.
  if (!isAsked || file.says(/^[ \t]*(?:from|import) trl\b/m)) return;
  if (feedsGradients(file) && !isFedByOptionsOnly(facts)) return;
  for (const wrap of wraps) if (lastWord(wrap.func) === "get_peft_model") yield { at: wrap, message: ASKED };
}

const ASKED =
  "With `--gradient_checkpointing`, transformers 4 takes the reentrant path, and under LoRA the embeddings are frozen: no input of a checkpoint requires gradients, and the adapters get none; call `enable_input_require_grads()` or pass `use_reentrant=False`";

/** `training_args.gradient_checkpointing = …`, which is no question. */
const isSet = (one: Expr): boolean => one.parent?.kind === "Assign" && one.parent.targets.includes(one);

/** `HfArgumentParser((ModelArguments, TrainingArguments))`, of transformers' own arguments or of a class of this file that adds to them. */
function parsesForTrainer(file: PythonFile): boolean {
  const isOwn = (name: string): boolean =>
    /^transformers\.(?:\w+\.)*(?:Seq2Seq)?TrainingArguments$/.test(name);
  return file.callsNamed("HfArgumentParser").some((call) =>
    call.args
      .flatMap(({ value }) => (itemsOf(value).length > 0 ? itemsOf(value) : [value]))
      .some((one) => {
        const name = file.dotted(one) ?? "";
        if (isOwn(name)) return true;
        const cls = file.all("ClassDef").find((made) => file.qualified(made) === name);
        return cls?.args.some(({ value }) => isOwn(file.dotted(value) ?? "")) === true;
      }),
  );
}

/** `CheckpointImpl.REENTRANT`, which `checkpoint_wrapper` is told: the path, whatever transformers says of its own. */
function reentrantWrappers(file: PythonFile): readonly Expr[] {
  if (!file.mentions("REENTRANT")) return [];
  return file
    .all("Attribute")
    .filter((one) => one.attr === "REENTRANT" && lastWord(one.value) === "CheckpointImpl");
}

/** Outside of a network, or in one that cuts off what goes into it: of its own tables it is known whether they learn. */
function isUnrecorded(call: Call, file: PythonFile): boolean {
  const cls = classOf(call);
  return cls === null || /\bno_grad\(|\.detach\(/.test(file.codeOf(cls));
}

const UNSAID_FROZEN =
  "On transformers 4 this takes the reentrant path, and the model is frozen: no input of a checkpoint requires gradients, and what it runs gets none; version 5 takes the other path";

const UNSAID_QUANTIZED =
  "On transformers 4 this takes the reentrant path, and of a quantized model nobody makes the inputs require gradients: peft does so of others alone, and the adapters that another file puts in get none; call `enable_input_require_grads()` or pass `use_reentrant=False`";

/** What freezes anything, or says that it does. */
const FROZEN_HERE =
  /parameters\(\):\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)|\.requires_grad_\(\s*False|get_peft_model|LoraConfig|inject_adapter|\bfreeze_?(?:model|backbone|base|encoder|lm|llm)\w*\(/i;

/** All of a model, or its embeddings, and not one part that has nothing to do with what is checkpointed. */
const BASE_FROZEN =
  /parameters\(\):\s*\w+\.requires_grad(?:_\(\s*False|\s*=\s*False)|(?:model|emb\w*|wte|embeddings\(\))\.requires_grad_\(\s*False/;

/** What makes inputs require gradients. */
const FED =
  /enable_input_require_grads|make_inputs?_require|prepare_model_for_\w+training|modules_to_save|requires_grad\s*=\s*True\s*[,)]/;

/** Whether anything is made to require gradients that may stand before the first checkpoint. */
function isFed(file: PythonFile): boolean {
  // Kinds of adapters that are only named, beside those of LoRA, are the adapters of another run.
  const prompts = file.says(/PromptTuning|PromptEncoder/) && file.callsNamed("LoraConfig").length === 0;
  if (file.says(FED) || prompts) return true;
  const byCall = file
    .callsNamed("requires_grad_")
    .filter(({ args }) => args.length === 0 || isTrue(args[0]!.value));
  const byFlag = file.assignsTo("requires_grad").filter(({ value }) => isTrue(value));
  return [...byCall, ...byFlag].some((one) => !isInside(one, file));
}

/** What lies inside the checkpoints, or behind them, by its name. */
const WITHIN = /lora|adapter|magnitude|layer|block|attn|attention|mlp|head|classifier|score|norm/i;

const BEFORE = /emb|wte|wpe|tok|input|shared|prompt|prefix|patch|conv1/i;

/**
 * `if "lora_" in name: p.requires_grad = True` in a loop over named parameters, `for p in net.lm_head.parameters():` and
 * `net.layers[-1].requires_grad_()`: what is switched on is no input of the first checkpoint.
 */
function isInside(one: Assign | Call, file: PythonFile): boolean {
  const says = (node: Expr): boolean => WITHIN.test(file.textOf(node)) && !BEFORE.test(file.textOf(node));
  const target = one.kind === "Assign" ? one.targets[0]! : one.func;
  const holder = target.kind === "Attribute" ? target.value : target;
  if (holder.kind !== "Name") return says(holder);
  const above = ancestors(one);
  const loop = above.find((at) => at.kind === "For" && namesIn(at.target).some(({ id }) => id === holder.id));
  if (loop?.kind !== "For") return false;
  if (!/named_(?:parameters|modules)\(/.test(file.textOf(loop.iter))) return says(loop.iter);
  const names = new Set(namesIn(loop.target).map(({ id }) => id));
  return above.some(
    (at) =>
      at.kind === "If" &&
      contains(loop, at) &&
      at.body.some((statement) => contains(statement, one)) &&
      namesIn(at.test).some(({ id }) => names.has(id)) &&
      !/\bnot in\b/.test(file.textOf(at.test)) &&
      says(at.test),
  );
}

/**
 * `model = make_model(args)`, and below it `model.base_model.gradient_checkpointing_enable()`, where the function puts the adapters
 * around it: it is of this file, or no other one of this file does.
 */
function isMadeWithAdapters({ func }: Call, wraps: readonly Call[], file: PythonFile): boolean {
  let model = func;
  while (model.kind === "Attribute") model = model.value;
  const made = model.kind === "Name" ? file.scopes.reaching(model) : [];
  return (
    made.length > 0 &&
    made.every(({ how, value }) => {
      const maker = (how === "assign" || how === "unpack") && value?.kind === "Call" ? value.func : null;
      const name = (maker && file.dotted(maker)) ?? "";
      const own = file.functionNamed(name);
      if (own) return wraps.some((wrap) => functionOf(wrap) === own);
      return (
        wraps.length === 0 && name.includes(".") && !OTHERS.test(name) && !name.startsWith(`${file.module}.`)
      );
    })
  );
}

const OTHERS = /^(?:torch|transformers|peft|trl|builtins)\./;

/** Networks whose encoder reads features of a sound, by layers that LoRA freezes; their token embeddings are the decoder's. */
const HEARS =
  /^transformers\.(?:(?:Whisper|Moonshine|Speech2Text)ForConditionalGeneration|AutoModelForSpeechSeq2Seq)\.from_pretrained$/;

/** What makes the encoder's input require gradients, or leaves the encoder alone. */
const FED_OR_APART =
  /make_inputs_require_grad|register_forward(?:_pre)?_hook|conv1|modules_to_save|requires_grad_?\(\s*True|freeze_encoder|\bdecoder\b[^\n]*(?:_proj|fc\d)|unsloth/;

/**
 * `model.gradient_checkpointing_enable()` of Whisper, then `get_peft_model(model, config)`: what peft, or
 * `enable_input_require_grads()`, hooks are the embeddings of tokens, and the checkpoints of the encoder see none of that.
 */
function* ofFeatures(wraps: readonly Call[], fed: boolean, file: PythonFile): Generator<Finding> {
  if (!file.calls.given(["target_modules"]).length || FED_OR_APART.test(file.text)) return;
  if (!file.callsNamed("from_pretrained").some(({ func }) => HEARS.test(file.dotted(func) ?? ""))) return;
  for (const { at, call, useReentrant } of checkpointingSwitches(file)) {
    const enabling = at === call;
    // After the wrapping, and with nothing that feeds the decoder either, it is told of as any other.
    const late = !enabling || wraps.some((wrap) => wrap.start < call.start);
    if (late && !fed) continue;
    const unsaid = enabling ? call.args.length === 0 : isPathUnsaid(call, file);
    if (useReentrant ? isTrue(useReentrant) : unsaid)
      yield {
        at,
        ...NOTE,
        message:
          "On transformers 4 this takes the reentrant path, and what is made to require gradients are the decoder's embeddings: nothing that goes into the encoder's checkpoints does, and the adapters in there get none; hook the encoder's first layer, or pass `use_reentrant=False`",
      };
  }
}

/** `TrainingArguments(…)` that say nothing of the path, and hide nothing that might. */
function isPathUnsaid(call: Call, file: PythonFile): boolean {
  return (
    !keyword(call, SETTINGS) &&
    !hidesArguments(call, file) &&
    file.dotted(call.func)?.endsWith("Arguments") === true
  );
}

function pathUnsaid(call: Call, { file, project }: Facts): Finding {
  const edits = addKeyword(call, 'gradient_checkpointing_kwargs={"use_reentrant": False}', file);
  return {
    at: call,
    severity: "note",
    message: UNSAID,
    ...(project.versions.oldTransformers
      ? {}
      : { fix: { grade: "unsafe" as const, title: "Pass use_reentrant=False", edits } }),
  };
}

/** `TrainingArguments(gradient_checkpointing=not args.no_checkpointing)`, which is on unless somebody says otherwise. */
function onByOptions(facts: Facts): readonly Call[] {
  return facts.file.calls.given(["gradient_checkpointing"]).filter((call) => {
    const { value } = keyword(call, "gradient_checkpointing")!;
    return value.kind === "Unary" && value.op === "not"
      ? isByDefault(value.operand, false, facts)
      : isByDefault(value, true, facts);
  });
}

/** What an option is by default, a constant of this file, `CHECKPOINTING = True`, or a parameter: `def train(checkpointing=True)`. */
function isByDefault(expr: Expr, wanted: boolean, { file, project }: Facts): boolean {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const named = one?.node.kind === "Param" ? one.node.default : one?.how === "assign" ? one.value : null;
  if (named && more.length === 0) return wanted ? isTrue(named) : isFalse(named);
  return expr.kind === "Attribute" && holdsOptions(expr.value) && project.options.get(expr.attr) === wanted;
}

/** Where the model is wrapped in another file, what becomes of it on its way here is followed by names only. */
function byWraps(wraps: readonly Call[]): Partial<Finding> {
  return wraps.length > 0 ? {} : { severity: "warning" };
}

function unreentrant({ start, end }: Expr): Fix {
  return { grade: "unsafe", title: "Pass use_reentrant=False", edits: [{ start, end, text: "False" }] };
}

/**
 * The True of `training_args.gradient_checkpointing_kwargs = {"use_reentrant": True}`, after the arguments were read, of
 * `training_args.gradient_checkpointing_kwargs["use_reentrant"] = True`, and of a field of arguments that a script makes its own.
 */
function toldLater(file: PythonFile): readonly Expr[] {
  if (!file.mentions(SETTINGS)) return [];
  return file
    .all("Assign")
    .flatMap(({ parent, targets: [target], value }) => {
      if (!target) return [];
      if (target.kind === "Subscript") return isPathOf(target) ? [value] : [];
      const isField = target.kind === "Name" && parent?.kind === "ClassDef";
      if (lastWord(target) !== SETTINGS || !(isField || isOfArguments(target))) return [];
      const dict = literalDict(defaultOf(value), file);
      return (dict && entry(dict, "use_reentrant")) ?? [];
    })
    .filter(isTrue);
}

function isPathOf({ value, index }: NodeOf<"Subscript">): boolean {
  return (
    index.kind === "Str" &&
    index.value === "use_reentrant" &&
    isOfArguments(value) &&
    lastWord(value) === SETTINGS
  );
}

/** `{…}` of `field(default_factory=lambda: {…})`. */
function defaultOf(value: Expr): Expr {
  const made = value.kind === "Call" ? keyword(value, "default_factory")?.value : null;
  return made?.kind === "Lambda" ? made.body : value;
}

/** `training_args.gradient_checkpointing` */
function isOfArguments(target: Expr | undefined): boolean {
  return target?.kind === "Attribute" && /args?$|arguments$/i.test(lastWord(target.value));
}

/** Whether this file also turns it on: else only an option may. */
function isSwitchedOn(file: PythonFile): boolean {
  return file
    .assignsTo("gradient_checkpointing")
    .some(({ targets: [target], value }) => isTrue(value) && isOfArguments(target));
}

const OWN_TRAINERS = /^(?:SFT|DPO|Reward)Trainer$/;

/** A trl that takes transformers' own arguments is one from before it had some of its own: it saw to the inputs of what it wrapped itself. */
function wrapsForOldTrl(file: PythonFile): boolean {
  return (
    file.callsNamed("get_peft_model").length > 0 &&
    file
      .callsNamed("TrainingArguments")
      .some((call) => file.dotted(call.func)?.startsWith("transformers.") === true) &&
    file.calls.matching(OWN_TRAINERS).some((call) => keyword(call, "max_seq_length") !== undefined)
  );
}

/** `if args.task == "dpo": DPOTrainer(model, …)`, `else: Trainer(model, …)`: what peft wraps here is trained by transformers' own too. */
function trainsBesideTrl(wraps: readonly Call[], file: PythonFile): boolean {
  return (
    wraps.length > 0 &&
    file
      .callsNamed("Trainer", "Seq2SeqTrainer")
      .some(({ func }) => /^transformers\.(?:\w+\.)*(?:Seq2Seq)?Trainer$/.test(file.dotted(func) ?? ""))
  );
}

/** `training_args.gradient_checkpointing = True`, after the arguments were read, and with nothing said of its path. */
function switchedLater(file: PythonFile): readonly Assign[] {
  if (file.mentions("gradient_checkpointing_kwargs")) return [];
  return file
    .assignsTo("gradient_checkpointing")
    .filter(({ targets: [target], value }) => isTrue(value) && isOfArguments(target));
}

/** By what an option that is off by default does, or one of several branches: a plain LoRA, which most run, is not fed. */
function isFedByOptionsOnly(facts: Facts): boolean {
  const { file, project } = facts;
  const isOff = (node: Node): boolean => optionBehind(node, file, project) !== null;
  return (
    !feedsAlways(file) &&
    feedingPreparations(file).every(
      (one) => isOff(one) || isOfOneBranch(one, file) || isOfOneKind(one, file) || isToldNotTo(one, facts),
    ) &&
    file.assignsTo("modules_to_save").length === 0 &&
    file.calls
      .given(["modules_to_save"])
      .every((call) => isSavedByOptions(keyword(call, "modules_to_save")!.value, file, isOff))
  );
}

/** `prepare_model_for_kbit_training(model, use_gradient_checkpointing=args.checkpointing)`, which is off unless somebody asks for it. */
function isToldNotTo(preparation: Call, facts: Facts): boolean {
  const flag = argument(preparation, "use_gradient_checkpointing", 1);
  return flag !== null && isByDefault(flag, false, facts);
}

/**
 * `if quantized: model = prepare_model_for_kbit_training(load())`, `else: model = load()`, and adapters around either: the other
 * one is not prepared.
 */
function isOfOneBranch(preparation: Call, file: PythonFile): boolean {
  const statement = statementOf(preparation);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  if (!target) return false;
  const made = file
    .all("Assign")
    .filter(
      ({ targets: [other], value }) =>
        other !== undefined && value.kind === "Call" && file.textOf(other) === file.textOf(target),
    );
  return ancestors(preparation).some((at) => {
    if (at.kind !== "If") return false;
    const isFirst = at.body.some((one) => contains(one, preparation));
    const [own, others] = isFirst ? [at.body, at.orelse] : [at.orelse, at.body];
    const isThere = (node: Node): boolean => others.some((one) => contains(one, node));
    const isWithAdapters = wrapsInAdapters(file).some((wrap) => !own.some((one) => contains(one, wrap)));
    return isWithAdapters && made.some(isThere) && !feedingPreparations(file).some(isThere);
  });
}

/**
 * `if args.mode == "qlora": model = prepare_model_for_kbit_training(model)`, and adapters around it `if args.mode in ("lora", "qlora"):`
 * the others of these are not prepared.
 */
function isOfOneKind(preparation: Call, file: PythonFile): boolean {
  const one = comparesAround(preparation).find(
    ({ ops: [op], rights: [right] }) => op === "==" && right?.kind === "Str",
  );
  const kind = one?.rights[0];
  if (!one || kind?.kind !== "Str") return false;
  const isOther = (item: Expr): boolean => item.kind === "Str" && item.value !== kind.value;
  return wrapsInAdapters(file).some((wrap) =>
    comparesAround(wrap).some(({ left, ops: [op], rights: [right] }) => {
      if (!right || file.textOf(left) !== file.textOf(one.left)) return false;
      if (op === "in") return /^(?:List|Tuple|Set)$/.test(right.kind) && itemsOf(right).some(isOther);
      return op === "!=" && isOther(right);
    }),
  );
}

const itemsOf = (expr: Expr): readonly Expr[] =>
  expr.kind === "List" || expr.kind === "Tuple" || expr.kind === "Set" ? expr.items : [];

/** What is compared where a node runs: both of `if args.mode == "qlora" and args.task in ("sft",):`. */
function comparesAround(node: Node): readonly NodeOf<"Compare">[] {
  return ancestors(node).flatMap((at) => {
    if (at.kind !== "If" || !at.body.some((one) => contains(one, node))) return [];
    const tests = at.test.kind === "Bool" && at.test.op === "and" ? at.test.values : [at.test];
    return tests.flatMap((test) => (test.kind === "Compare" && test.rights.length === 1 ? [test] : []));
  });
}

/** `whole = []`, and `whole.extend(vision_keys)` where an option that is off asks for it; `whole.append("lm_head")` feeds nothing. */
function isSavedByOptions(saved: Expr, file: PythonFile, isOff: (node: Node) => boolean): boolean {
  if (saved.kind === "Const" || saved.kind === "List") return isNoneSaved(saved);
  // `modules_to_save = None if is_chat else ["wte", "lm_head"]`: one of the two kinds of run is not fed.
  if (saved.kind === "IfExp") return [saved.body, saved.orelse].some(isNoneSaved);
  const [one, ...more] = saved.kind === "Name" ? file.scopes.reaching(saved) : [];
  if (one?.value && more.length > 0)
    return [one, ...more].some(({ how, value }) => how === "assign" && value !== null && isNoneSaved(value));
  // `def train(saved=["lm_head"])`, unless somebody asks for more.
  if (one?.how === "param")
    return one.node.kind === "Param" && one.node.default !== null && isNoneSaved(one.node.default);
  if (one?.value?.kind === "IfExp") return isSavedByOptions(one.value, file, isOff);
  if (one?.value?.kind !== "List" || more.length > 0 || !one.value.items.every(isHead)) return false;
  return file.scopes.uses(one).every(({ parent }) => {
    const call = parent?.kind === "Attribute" ? parent.parent : null;
    // The argument itself, or something that only reads it.
    if (call?.kind !== "Call" || call.func !== parent) return parent?.kind === "Arg";
    return call.args.every(({ value }) => isHead(value)) || isOff(call);
  });
}

/** None, or heads alone. */
function isNoneSaved(expr: Expr): boolean {
  return expr.kind === "List" ? expr.items.every(isHead) : isNone(expr);
}

function isHead(expr: Expr): boolean {
  return expr.kind === "Str" && HEADS.test(expr.value ?? "");
}

const QUANTIZED = /load_in_[48]bit\s*=\s*True|quantization_config\s*=/;

/** A model of transformers whose embeddings the script freezes before it checkpoints on the reentrant path. */
function* frozenEmbeddings(file: PythonFile): Generator<Finding> {
  // `model.transformer.gradient_checkpointing = True`, past the method that would say so.
  for (const { targets, value } of file.assignsTo("gradient_checkpointing")) {
    const [at] = targets;
    if (at?.kind !== "Attribute" || !isTrue(value) || holdsOptions(at.value)) continue;
    if (!freezesEmbeddings(file) || file.says(/enable_input_require_grads|make_inputs_require_grad/)) break;
    yield { at, ...NOTE, message: FOUR };
  }
  for (const { at, call, useReentrant } of checkpointingSwitches(file)) {
    const isUnsaid = at === call && call.args.length === 0;
    if (useReentrant ? !isTrue(useReentrant) : !isUnsaid) continue;
    if (!freezesEmbeddings(file) || file.says(/enable_input_require_grads|make_inputs_require_grad/)) return;
    yield useReentrant
      ? {
          at: useReentrant,
          message:
            "The embeddings are frozen, so no input of a reentrant checkpoint requires gradients: what it runs gets none, or backward raises",
          fix: unreentrant(useReentrant),
        }
      : {
          at: call,
          ...NOTE,
          message: FOUR,
        };
  }
}

/** `hidden = self.fc(torch.cat((embedded, hidden), -1))` */
const BETWEEN = /=\s*self\.\w*(?:fc|proj\w*|linear|input_layer|adapter)\d*\(/;

/** A module that freezes its embedding, or whose file has all but its adapters frozen, and that checkpoints what follows on the reentrant path. */
function* byHand({ file, project }: Facts): Generator<Finding> {
  // By a function of the file, which somebody has to call.
  const rest = freezesRest(file.text);
  for (const cls of file.all("ClassDef")) {
    const text = file.codeOf(cls);
    const frozen = freezesTable(text);
    if (!frozen && !(rest && /\bEmbedding\(/.test(text))) continue;
    if (/enable_input_require_grads|requires_grad_\(\s*(?:True)?\s*\)/.test(text)) continue;
    for (const call of file.callsNamed("checkpoint", "checkpoint_sequential")) {
      if (
        !contains(cls, call) ||
        !/^torch\.utils\.checkpoint\.checkpoint(?:_sequential)?$/.test(file.dotted(call.func) ?? "")
      )
        continue;
      const flag = keyword(call, "use_reentrant");
      if (flag ? !isTrue(flag.value) : call.args.some((arg) => arg.star === 2)) continue;
      yield {
        at: flag?.value ?? call,
        // A layer between the embedding and the blocks gives them inputs that require gradients.
        ...(BETWEEN.test(text) || !frozen
          ? { severity: "note" as const }
          : flag
            ? {}
            : { severity: "warning" as const }),
        message:
          "The embeddings are frozen, so no input of a reentrant checkpoint requires gradients: what it runs gets none, or backward raises",
        ...(flag
          ? { fix: unreentrant(flag.value) }
          : project.versions.oldTorch
            ? {}
            : {
                fix: {
                  grade: "unsafe" as const,
                  title: "Pass use_reentrant=False",
                  edits: addKeyword(call, "use_reentrant=False", file),
                },
              }),
      };
    }
  }
}
