import { argument, isFalse, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import { entry, given } from "../facts/arguments.ts";
import { checkpointingSwitches } from "../facts/checkpointing.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { last } from "../facts/torch-names.ts";
import { readsArguments } from "../facts/trained-elsewhere.ts";
import { turnsCheckpointingOn } from "../config.ts";
import { isOtherBranch } from "../facts/guards.ts";
import type { Attribute, Call, Expr, Node } from "../../python/tree.ts";
import type { Finding, Rule } from "../rule.ts";
import { assignsBeyondNames } from "../facts/assigns.ts";

const MESSAGE =
  "`use_cache=True` with gradient checkpointing: the model switches the cache off again with a warning, or keeps keys and values that training never reads";

/** `apply_fsdp_checkpointing(model, blocks)`, `apply_activation_checkpointing(model)` */
const APPLIES = /^apply_\w*checkpointing(?:_wrapper)?$/;

/** `training_args.gradient_checkpointing = True` */
const SWITCHED = /\.gradient_checkpointing\s*=\s*True\b/;

export const rule: Rule = {
  meta: {
    code: "PLM054",
    name: "cache-kept-while-checkpointing",
    summary: "The key/value cache is switched on in a model that trains with gradient checkpointing",
    severity: "note",
    fix: "unsafe",
    patterns: [54],
  },
  *check(facts) {
    const { file } = facts;
    if (!file.mentions("use_cache")) return;
    if (facts.guesses) return yield* likelyKept(facts);
    if (
      checkpointingSwitches(file).length === 0 &&
      !file.says(SWITCHED) &&
      !mayCheckpoint(file) &&
      !isCheckpointedElsewhere(facts) &&
      !isCheckpointedBySettings(facts) &&
      !asksOption(file)
    )
      return;
    const trains = file.all("Call").filter(isTraining);
    const off = file.says(OFF);
    for (const statement of assignsBeyondNames(file)) {
      const [target] = statement.targets;
      // `inputs["use_cache"] = True`
      if (
        target?.kind === "Subscript" &&
        target.index.kind === "Str" &&
        target.index.value === "use_cache" &&
        isTrue(statement.value) &&
        !off &&
        facts.hot(statement) !== null
      )
        yield finding(statement.value);
      if (target?.kind !== "Attribute" || target.attr !== "use_cache" || !isTrue(statement.value)) continue;
      if (off || isAfterTraining(target, trains, file) || isWithoutCheckpointing(statement, file)) continue;
      yield finding(statement.value);
    }
    // `setattr(model.config, "use_cache", True)`
    for (const call of off ? [] : file.callsNamed("setattr")) {
      const [, name, value] = call.args.map((arg) => arg.value);
      if (name?.kind === "Str" && name.value === "use_cache" && value && isTrue(value)) yield finding(value);
    }
    // `model_init_kwargs={"use_cache": True}`
    for (const dict of off || !file.mentions("use_cache") ? [] : file.all("Dict")) {
      const value = entry(dict, "use_cache");
      const arg = dict.parent?.kind === "Arg" ? dict.parent : null;
      const updates = arg?.parent?.kind === "Call" && file.textOf(arg.parent.func).endsWith("config.update");
      if (
        isTrue(value) &&
        arg &&
        (updates || arg.star === 2 || /^model_(?:init_)?kwargs$/.test(arg.name ?? ""))
      )
        yield finding(value!);
    }
    const asked = new Set([
      ...file.calls.given(["use_cache"]),
      // `from_pretrained(name, **settings)`
      ...(file.mentions("use_cache") ? file.callsNamed("from_pretrained", "from_config") : []),
    ]);
    for (const call of asked) {
      const name = call.func.kind === "Attribute" ? call.func.attr : last(file.dotted(call.func) ?? "");
      const flag = given(call, "use_cache", file);
      // Written in the call it has been seen above.
      if (
        !isTrue(flag) ||
        (off && !isOffElsewhere(call, file)) ||
        isWithoutCheckpointing(call, file) ||
        call.args.some(({ star, value }) => star === 2 && value.kind === "Dict") ||
        !(/^(?:from_pretrained|from_config)$|Config$/.test(name) || isNetwork(call.func, facts)) ||
        /Generation|generate/.test(file.textOf(call.func))
      )
        continue;
      yield finding(flag!);
    }
  },
  *checkConfig(config) {
    if (!turnsCheckpointingOn(config)) return;
    for (const setting of config.named("use_cache"))
      if (setting.value === true && !/generat|infer|predict/i.test(setting.path))
        yield {
          at: setting.valueAt,
          message: MESSAGE,
          fix: {
            grade: "unsafe",
            title: "Switch the cache off",
            edits: [{ ...setting.valueAt, text: "false" }],
          },
        };
  },
};

/**
 * `use_cache=True` of a call in the step, of a model that is loaded or of its configuration, in whatever way it is said, where
 * anything in the program may checkpoint.
 */
function* likelyKept(facts: Facts): Generator<Finding> {
  const { file, project } = facts;
  const mayBe =
    project.checkpoints || project.options.has("gradient_checkpointing") || file.says(MAY_CHECKPOINT);
  if (!mayBe || GENERATES.test(file.path) || onlyGenerates(facts)) return;
  const isMeant = (at: Node): boolean => {
    const fn = functionOf(at);
    return (
      !(fn?.kind === "FunctionDef" && GENERATES.test(fn.name)) &&
      facts.gradMode(at) !== "off" &&
      !isWithoutCheckpointing(at, file)
    );
  };
  const isOff = file.says(OFF);
  const flags: Expr[] = [];
  for (const call of file.calls.given(["use_cache"])) {
    const { value } = keyword(call, "use_cache")!;
    const isStep = facts.hot(call) !== null;
    const word = lastWord(call.func);
    const isMaker = /^(?:from_pretrained|from_config|update|dict)$|(?:Config|Arguments)$/.test(word);
    if (isTrue(value) && !GENERATES.test(file.textOf(call.func)) && (isStep || (isMaker && !isOff)))
      flags.push(value);
  }
  for (const dict of file.all("Dict")) {
    const value = entry(dict, "use_cache");
    if (isTrue(value) && !isOff && !/gen/i.test(file.textOf(dict.parent!).slice(0, 40))) flags.push(value!);
  }
  for (const { targets, value } of assignsBeyondNames(file)) {
    const [target] = targets;
    const word = target?.kind === "Subscript" ? (target.index.kind === "Str" ? target.index.value : "") : "";
    if (!isTrue(value) || !target || (word !== "use_cache" && lastWord(target) !== "use_cache")) continue;
    const trains = file.all("Call").filter(isTraining);
    const isAfter = target.kind === "Attribute" && isAfterTraining(target, trains, file);
    if (!isOff && !isAfter && !/gen/i.test(file.textOf(target))) flags.push(value);
  }
  for (const flag of flags) if (isMeant(flag)) yield finding(flag);
}

/** It has a model generate, and neither trains it nor hands it to a file that does. */
function onlyGenerates({ file, project }: Facts): boolean {
  return (
    file.callsNamed("generate").length > 0 &&
    !file.says(TRAINS) &&
    !project.trained.has(file.module) &&
    !project.training.has(file.module)
  );
}

const TRAINS = /Trainer\b|TrainingArguments|\.backward\(|[Oo]ptim|training_step|\.train\(\)/;

/** What activation checkpointing is called. */
const MAY_CHECKPOINT =
  /(?:gradient|activation)_?checkpoint|checkpoint_wrapper|utils\.checkpoint|use_checkpoint|grad_checkpoint/i;

const GENERATES = /generat|infer|predict|demo|serve|eval|valid|sampl|test|chat|decod|cli\b/i;

/** A script that asks its own arguments, which its user fills in, whether to checkpoint: `if training_args.gradient_checkpointing:`. */
function asksOption(file: PythonFile): boolean {
  return file.says(ASKED) && readsArguments(file);
}

/** `training_args.gradient_checkpointing`, asked or set. */
const ASKED = /args\.gradient_checkpointing\b/;

/** Under `if not args.gradient_checkpointing:`, or in the branch beside the one that checkpoints. */
function isWithoutCheckpointing(node: Node, file: PythonFile): boolean {
  for (let child = node, at = node.parent; at; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test || !/checkpointing/.test(file.textOf(at.test))) continue;
    const isNegated = at.test.kind === "Unary" && at.test.op === "not";
    return at.body.includes(child as never) === isNegated;
  }
  return false;
}

const OFF = /use_cache["']?\s*[=:]\s*False/;

/** After training it is for generation. */
function isAfterTraining(target: Attribute, trains: readonly Call[], file: PythonFile): boolean {
  return trains.some(
    (call) =>
      call.start < target.start && functionOf(call) === functionOf(target) && !isReadied(call, target, file),
  );
}

/** `trainer.train()`, `loss.backward()`, `train_epoch(model, loader)` */
function isTraining({ func }: Call): boolean {
  return /^(?:backward|fit|train(?:_\w*(?:epoch|step|model|loop|one|with)\w*)?)$/.test(lastWord(func));
}

/** `model.train()` before `model.config.use_cache = True`: nothing has been trained by that, as it is by `trainer.train()`. */
function isReadied({ func, args }: Call, { value }: Attribute, file: PythonFile): boolean {
  return (
    func.kind === "Attribute" &&
    func.attr === "train" &&
    args.length === 0 &&
    !/trainer$/i.test(lastWord(func.value)) &&
    file.textOf(value).startsWith(`${file.textOf(func.value)}.`)
  );
}

/** Whether all that switches the cache off stands in the branch that is not taken where this call is. */
function isOffElsewhere(call: Call, file: PythonFile): boolean {
  const written = file.assignsTo("use_cache").filter(({ value }) => isFalse(value)) as readonly Node[];
  const asked = file.calls.given(["use_cache"]).filter((one) => isFalse(keyword(one, "use_cache")!.value));
  const all = [...written, ...asked];
  return all.length > 0 && all.every((one) => isOtherBranch(one, call));
}

/** peft's preparation of a quantized model switches it on; so may `gradient_checkpointing=args.gradient_checkpointing`. */
function mayCheckpoint(file: PythonFile): boolean {
  return (
    file.calls.matching(APPLIES).length > 0 ||
    file
      .callsNamed("prepare_model_for_kbit_training", "prepare_model_for_int8_training")
      .some((call) => !isFalse(argument(call, "use_gradient_checkpointing", 1))) ||
    file.calls
      .given(["gradient_checkpointing"])
      .some((call) => /checkpointing/.test(file.textOf(keyword(call, "gradient_checkpointing")!.value)))
  );
}

/** Another file trains what is loaded here, and checkpoints, or an option has it checkpoint unless somebody says otherwise. */
function isCheckpointedElsewhere(facts: Facts): boolean {
  const { file, project } = facts;
  return (
    (project.trained.has(file.module) && project.checkpoints) ||
    (project.options.get("gradient_checkpointing") === true &&
      !onlyGenerates(facts) &&
      !/infer|generat|demo|serve|eval/i.test(file.path))
  );
}

/**
 * A file of settings beside it says `gradient_checkpointing: true`, and the arguments of its Trainer are read from such files:
 * `HfArgumentParser((ModelArguments, TrainingArguments))`, `TrainingArguments(**settings)`; or those of a file that trains what is
 * loaded here.
 */
function isCheckpointedBySettings({ file, project }: Facts): boolean {
  if (project.checkpointedBy.length === 0) return false;
  const scripts = readsArguments(file) ? [file.path] : (project.trained.get(file.module)?.asks ?? []);
  return scripts.some((script) => project.checkpointedBy.some((path) => isBeside(path, script)));
}

/** In the same folder or below it, or in a folder for settings next to it: `recipes/small/config.yaml` of `scripts/run.py`. */
function isBeside(settings: string, script: string): boolean {
  const folder = folderOf(script);
  if (settings.startsWith(folder)) return true;
  const around = folderOf(folder.slice(0, -1));
  return (
    settings.startsWith(around) && /^(?:conf|recipe|experiment|setting)/i.test(settings.slice(around.length))
  );
}

/** With the slash behind it; "" of a file that is in none. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

function finding(value: Expr): Finding {
  return {
    at: value,
    message: MESSAGE,
    fix: {
      grade: "unsafe",
      title: "Switch the cache off",
      edits: [{ start: value.start, end: value.end, text: "False" }],
    },
  };
}
