import { hasStars, isFalse, isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Alias, Call, Expr, Name, Node, Param } from "../../python/tree.ts";
import type { Setting } from "../config.ts";
import { addKeyword } from "../edits.ts";
import { entry, given, hidesArguments, literalDict } from "../facts/arguments.ts";
import { defaultOf, optionBehind } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "The default step makes temporaries as large as all parameters; `fused=True` updates them in place in one kernel";
const MESSAGE_OF_ADAPTERS =
  "The default step makes temporaries as large as all the parameters that train; `fused=True` updates them in place in one kernel";
const MESSAGE_OF_SHARDS =
  "The default step makes temporaries as large as all the parameters this rank holds; `fused=True` updates them in place in one kernel";
/** What transformers calls the optimizers that take that path. */
const UNFUSED = /^adamw_(?:torch|hf)$/;

/**
 * Marks of parameters that are stepped on the host, or by default one by one, as the tensors of `fully_shard` are. An EMA,
 * activations or what is saved may be offloaded beside them.
 */
const ELSEWHERE =
  /^[ \t]*(?:import|from) deepspeed|fully_shard(?!ed_)|sparse=True|CPUOffload\((?!\s*(?:offload_params\s*=\s*)?False\b)|offload_(?:optim|param)\w*(?!\w|\s*=\s*False\b)|(?:cpu|optim\w*|param\w*|fsdp)_offload\b(?!\s*=\s*(?:False|None|CPUOffload)\b)|offload_to_cpu(?!\s*=\s*False\b)(?<!StateDictConfig\([^()]*)|OffloadOptim|is_ds_zero|zero_stage/im;

/** Whether the parameters are, as far as this file says, stepped anywhere but where they are computed with. */
function isElsewhere(facts: Facts): boolean {
  const { file } = facts;
  if (!file.says(ELSEWHERE)) return false;
  const beside = file.mentions("offload") ? besideParameters(facts) : [];
  if (beside.length === 0) return true;
  let left = file.code;
  for (const { start, end } of beside)
    left = left.slice(0, start) + " ".repeat(end - start) + left.slice(end);
  return ELSEWHERE.test(left);
}

/** What is said of offloading that leaves the parameters of a plain run where they are. */
function besideParameters(facts: Facts): readonly Node[] {
  const { file } = facts;
  const found: Node[] = [];
  for (const call of file.calls.given(["offload_to_cpu", "cpu_offload"])) {
    const said = keyword(call, "offload_to_cpu") ?? keyword(call, "cpu_offload")!;
    if (isOfActivations(call, file)) found.push(said, ...parameterFor(said.value, file));
    // `if args.sharded:`, which is off unless somebody asks for it.
    else if (optionBehind(call, file, facts.project)) found.push(said);
  }
  return found;
}

/** `checkpoint_wrapper(block, offload_to_cpu=True)`, and a `partial` of it, move what is kept for backward. */
function isOfActivations(call: Call, file: PythonFile): boolean {
  const bound = file.dotted(call.func) === "functools.partial" ? positional(call, 0) : call.func;
  return bound !== null && /(?:^|\.)checkpoint_wrapper$/.test(file.dotted(bound) ?? "");
}

/** The parameter that is handed on there and read nowhere else, and what is written of it above the function's body. */
function parameterFor(value: Expr, file: PythonFile): readonly Node[] {
  const [one, ...more] = value.kind === "Name" ? file.scopes.reaching(value) : [];
  const fn = one?.how === "param" && more.length === 0 ? one.node.parent : null;
  if (fn?.kind !== "FunctionDef" || file.scopes.uses(one!).length !== 1) return [];
  const [first] = fn.body;
  const written = first?.kind === "ExprStmt" && first.value.kind === "Str" ? [first] : [];
  return [one!.node, ...written];
}

/** Torch's own shards are plain parameters, and take the same path as whole ones; other libraries' are their own kind. */
const SHARDED = /FullyShardedDataParallel/;
const OTHER_SHARDS = /\b(?:fairscale|torch_xla)\b/;

const ADAM = /^torch\.optim\.(?:adamw?\.)?AdamW?$/;

const isImport = ({ how }: Definition): boolean => how === "import";

/** Calls of what was picked out of a table, by its name, or by a test. */
function chosenCalls(file: PythonFile): readonly Call[] {
  if (!file.mentions("Adam")) return [];
  const calls = [...file.all("Subscript"), ...file.callsNamed("getattr", "get")].flatMap((picked) => {
    if (picked.parent?.kind === "Call" && picked.parent.func === picked) return [picked.parent];
    const [target] = picked.parent?.kind === "Assign" ? picked.parent.targets : [];
    // Most of what is picked is never called.
    return target?.kind === "Name" && file.callsNamed(target.id).length > 0 ? callsOfHeld(target, file) : [];
  });
  const named = holders(file).flatMap((held) => callsOfHeld(held, file));
  return calls.length + named.length > 0 && file.says(/\bAdamW?\b/) ? [...calls, ...named] : [];
}

/** The names that the class may be kept under: `make = Sharded if several else AdamW`, `def build(net, make=AdamW)`. */
function holders(file: PythonFile): readonly (Name | Param)[] {
  const isAdam = (one: Expr): boolean => ADAM.test(file.dotted(one) ?? "");
  const either = file.all("IfExp").flatMap(({ body, orelse, parent }) => {
    const [target] = parent?.kind === "Assign" && (isAdam(body) || isAdam(orelse)) ? parent.targets : [];
    return target?.kind === "Name" ? [target] : [];
  });
  return [...either, ...file.all("Param").filter((param) => param.default && isAdam(param.default))];
}

function callsOfHeld(held: Name | Param, file: PythonFile): readonly Call[] {
  const made = file.scopes.definitionAt(held);
  return (made ? file.scopes.uses(made) : []).flatMap((use) =>
    use.parent?.kind === "Call" && use.parent.func === use ? [use.parent] : [],
  );
}

/** `OPTIMIZERS["adamw"]`, `getattr(torch.optim, name)`: what they stand for, where the file shows the word. */
function chosenFrom(func: Expr, facts: Facts): string | null {
  const { file } = facts;
  if (func.kind === "Subscript") {
    const table = literalDict(func.value, file);
    const word = wordOf(func.index, facts);
    const found = table && word !== null ? entry(table, word) : null;
    return found && file.dotted(found);
  }
  if (func.kind === "Name") return chosenByTest(func, facts);
  if (func.kind === "Call" && func.func.kind === "Attribute" && func.func.attr === "get") {
    const [table, key] = [literalDict(func.func.value, file), positional(func, 0)];
    const found = table && key ? entry(table, wordOf(key, facts) ?? "") : null;
    return found && file.dotted(found);
  }
  if (func.kind !== "Call" || file.dotted(func.func) !== "builtins.getattr") return null;
  const [place, name] = [positional(func, 0), positional(func, 1)];
  const [from, word] = [place && file.dotted(place), name && wordOf(name, facts)];
  return from && word ? `${from}.${word}` : null;
}

/** Of what a name may be, that which is no option that somebody has to ask for. */
function chosenByTest(name: Name, facts: Facts): string | null {
  const { file } = facts;
  const either = file.scopes.reaching(name).flatMap((one) => {
    // Whoever calls it in this file may give another.
    const made =
      one.node.kind !== "Param"
        ? one.value
        : handedIn(one, file, true).length === 0
          ? one.node.default
          : null;
    return made?.kind === "IfExp" ? [made.body, made.orelse] : made ? [made] : [];
  });
  const names = either.map((one) =>
    either.length > 1 && !isByDefault(one, name, facts)
      ? null
      : (file.dotted(one) ?? (one.kind === "Name" ? null : chosenFrom(one, facts))),
  );
  return names.find((one) => one !== null && ADAM.test(one)) ?? null;
}

/** What is left when nobody asks for another: an `else` that no option keeps from running, or the word that an option has by default. */
function isByDefault(one: Expr, use: Name, { file, project }: Facts): boolean {
  if (optionBehind(one, file, project)) return false;
  for (let child: Node = one, at = one.parent; at && at.kind !== "FunctionDef"; child = at, at = at.parent) {
    // `elif kind == "adamw":` around both the choice and the call decides nothing between what is chosen from.
    if (contains(at, use)) break;
    if ((at.kind !== "If" && at.kind !== "IfExp") || child === at.test) continue;
    const isElse = at.kind === "If" ? at.orelse.includes(child as never) : at.orelse === child;
    const [right] = at.test.kind === "Compare" ? at.test.rights : [];
    const word = at.test.kind === "Compare" ? defaultOf(at.test.left, file, project) : undefined;
    if (!isElse && (right?.kind !== "Str" || word !== right.value)) return false;
  }
  return true;
}

/** The text itself, a parameter's unless a caller says otherwise, or an option's by default. */
function wordOf(expr: Expr, { file, project }: Facts): string | null {
  if (expr.kind === "Str") return expr.value;
  if (expr.kind === "Attribute") {
    const word = defaultOf(expr, file, project);
    return typeof word === "string" ? word : null;
  }
  if (expr.kind !== "Name") return null;
  const [one, ...more] = file.scopes.reaching(expr);
  const value = one?.node.kind === "Param" ? one.node.default : (one?.value ?? null);
  return more.length === 0 && value?.kind === "Str" ? value.value : null;
}

/** Left out, or `None`, which leaves it to the default. */
function isUnasked(value: Expr | null): boolean {
  return value === null || isNone(value);
}

/** `finetuning_type: lora`, `adapter: qlora` */
const trainsAdapters = ({ key, value }: Setting): boolean =>
  /^(?:finetuning_type|adapter|peft_type)$/.test(key) && /lora/i.test(String(value));

/** `fused: true`, or no `foreach`, which is the default when it is asked for. */
const choosesPath = ({ key, value }: Setting): boolean =>
  key === "fused" || (key === "foreach" && value !== true);

/** The word itself, or `optim = "adamw_torch"` above. */
function isUnfused(expr: Expr, file: PythonFile): boolean {
  const said = (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
  return said.kind === "Str" && UNFUSED.test(said.value ?? "");
}

/** `parser.add_argument("--optim", default="adamw_torch")`; what such an option is called is the script's own matter, the word is not. */
function optionDefaults(file: PythonFile): readonly Expr[] {
  return file.callsNamed("add_argument").flatMap((call) => keyword(call, "default")?.value ?? []);
}

/** `optim: str = field(default="adamw_torch")` of a class of arguments. */
function fieldDefaults(file: PythonFile): readonly Expr[] {
  return file
    .all("ClassDef")
    .flatMap(({ body }) => body)
    .flatMap((one) => {
      if (one.kind !== "Assign" || lastWord(one.targets[0]!) !== "optim") return [];
      return one.value.kind === "Call" ? (keyword(one.value, "default")?.value ?? []) : [one.value];
    });
}

/** `settings = {"optim": "adamw_torch"}`, of which `TrainingArguments(**settings)` are made. */
function entries(file: PythonFile): readonly Expr[] {
  return file.all("Dict").flatMap((dict) => entry(dict, "optim") ?? []);
}

/** `extra = {"foreach": device.type == "cuda"}`, which a function that makes the optimizer is given: `make_optimizer(name, parameters, **extra)`. */
function foreachAsked(file: PythonFile): readonly Expr[] {
  return file.all("Dict").flatMap((dict) => {
    const asked = entry(dict, "foreach");
    if (!asked || isFalse(asked) || file.mentions("fused")) return [];
    const [target] = dict.parent?.kind === "Assign" ? dict.parent.targets : [];
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    const handed = (made ? file.scopes.uses(made) : []).some(
      ({ parent }) =>
        parent?.kind === "Arg" &&
        parent.star === 2 &&
        parent.parent?.kind === "Call" &&
        /optim/i.test(lastWord(parent.parent.func)),
    );
    return handed ? [asked] : [];
  });
}

/** `import torch_xla.core.xla_model as xm`, under no test of whether there is one. */
function isOfXla(alias: Alias): boolean {
  const name = alias.parent?.kind === "ImportFrom" ? alias.parent.module : alias.name;
  return (
    /^torch_xla(?:\.|$)/.test(name ?? "") &&
    !ancestors(alias).some(({ kind }) => kind === "If" || kind === "Try" || kind === "FunctionDef")
  );
}

/**
 * A module of Lightning, whose Trainer may be told to clip: under AMP it refuses to, with an optimizer that unscales its gradients by
 * itself. Not where all Trainers stand in the same file and say nothing of it, nor where the module takes its steps by hand.
 */
function mayBeClipped(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const cls = classOf(call);
  if (!cls || facts.role(cls) !== "lightning" || file.says(BY_HAND)) return false;
  const trainers = file.callsNamed("Trainer");
  return (
    trainers.length === 0 ||
    trainers.some((one) => hasStars(one) || keyword(one, "gradient_clip_val") !== null)
  );
}

const BY_HAND = /\bautomatic_optimization\s*=\s*False\b/;

export const rule: Rule = {
  meta: {
    code: "PLM057",
    name: "adam-without-fused",
    summary:
      "AdamW on an accelerator takes the foreach path, whose temporaries are as large as the parameters",
    severity: "note",
    fix: "unsafe",
    patterns: [57],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.calls.given(["optim"])) {
      const chosen = keyword(call, "optim")!;
      if (isUnfused(chosen.value, file) && /(?:Arguments|Config)$/.test(file.dotted(call.func) ?? ""))
        yield { at: chosen, message: MESSAGE };
    }
    if (file.mentions("adamw_") && !isElsewhere(facts))
      for (const value of [...optionDefaults(file), ...fieldDefaults(file), ...entries(file)])
        if (isUnfused(value, file)) yield { at: value, message: MESSAGE };
    if (!facts.accelerator) return;
    for (const value of foreachAsked(file)) yield { at: value, message: MESSAGE };
    // `make = partial(AdamW, lr=3e-4)`, unless some call of it says more.
    for (const call of file.callsNamed("partial")) {
      if (file.says(/\bfused\b|\bforeach\b/)) break;
      const bound = file.dotted(call.func) === "functools.partial" ? positional(call, 0) : null;
      if (bound && /^torch\.optim\.AdamW?$/.test(file.dotted(bound) ?? "") && !hidesArguments(call, file))
        yield { at: call, message: MESSAGE };
    }
    for (const call of new Set([...file.callsNamed("Adam", "AdamW"), ...chosenCalls(file)])) {
      if (
        !ADAM.test(file.dotted(call.func) ?? chosenFrom(call.func, facts) ?? "") ||
        // Both at once are refused: who asks for one has not asked for the other, whatever else is handed on.
        (hidesArguments(call, file) && !isTrue(keyword(call, "foreach")?.value ?? null))
      )
        continue;
      // `from apex.optimizers import FusedAdam`, or torch's by that name where that is not there.
      if (call.func.kind === "Name" && file.scopes.reaching(call.func).filter(isImport).length > 1) continue;
      const fused = given(call, "fused", file);
      const foreach = given(call, "foreach", file);
      // `foreach=device == "cuda"` is the default, said aloud.
      const asked = foreach?.kind === "Name" ? file.scopes.onlyValue(foreach) : foreach;
      if (
        (!isUnasked(fused) && !isFalse(fused)) ||
        (isUnasked(fused) && !isUnasked(asked) && !isTrue(asked) && asked!.kind !== "Compare")
      )
        continue;
      if (["capturable", "differentiable"].some((key) => given(call, key, file))) continue;
      const chosen = keyword(call, "fused") ?? keyword(call, "foreach");
      // Offloaded parameters are stepped elsewhere; sparse ones have no fused kernel.
      if (isElsewhere(facts)) continue;
      // XLA has no fused kernel either, and makes one of its own of what the step computes.
      if (file.mentions("torch_xla") && file.all("Alias").some((alias) => isOfXla(alias))) continue;
      const sharded = file.says(SHARDED);
      if (sharded && file.says(OTHER_SHARDS)) continue;
      // Another one that is chosen in its place may not know the word, nor an older torch.
      const isOneOfSeveral = call.func.kind === "Name" && file.dotted(call.func) === null;
      const isChosen = foreach !== null && isTrue(asked);
      const mayRefuse = facts.project.versions.torch1 || mayBeClipped(call, facts);
      yield {
        at: call.func,
        message: sharded ? MESSAGE_OF_SHARDS : MESSAGE,
        ...(isOneOfSeveral || isChosen || mayRefuse
          ? {}
          : {
              fix: {
                grade: "unsafe" as const,
                title: "Use the fused kernel",
                edits: chosen
                  ? [{ start: chosen.start, end: chosen.end, text: "fused=True" }]
                  : addKeyword(call, "fused=True", file),
              },
            }),
      };
    }
  },
  *checkConfig(config) {
    const message = config.settings.some(trainsAdapters) ? MESSAGE_OF_ADAPTERS : MESSAGE;
    for (const { value, valueAt } of [...config.named("optim"), ...config.named("optimizer")])
      if (typeof value === "string" && UNFUSED.test(value)) yield { at: valueAt, message };
    // `"optimizer": {"type": "AdamW", "args": {…}}`; DeepSpeed says it so too, and means a fused one of its own.
    for (const { value, valueAt, path } of [...config.named("type"), ...config.named("name")]) {
      const place = path.slice(0, path.lastIndexOf(".") + 1);
      if (
        typeof value === "string" &&
        /^AdamW?$/.test(value) &&
        /(?:^|\.)optim(?:izer)?\.$/i.test(place) &&
        !config.settings.some(
          (one) =>
            (one.path.startsWith(place) && choosesPath(one)) ||
            /(?:^|\.)zero_optimization\.|^train_(?:micro_)?batch_size|optimizer\.params\./.test(one.path),
        )
      )
        yield { at: valueAt, message: MESSAGE };
    }
    // Hydra: `_target_: torch.optim.AdamW` and what it is called with beside it.
    for (const { value, valueAt, path } of config.named("_target_")) {
      const place = path.slice(0, -"_target_".length);
      if (
        typeof value === "string" &&
        /^torch\.optim\.AdamW?$/.test(value) &&
        !config.settings.some((one) => one.path === `${place}${one.key}` && choosesPath(one))
      )
        yield { at: valueAt, message: MESSAGE };
    }
    // torchtune: `_component_: torch.optim.AdamW`, of whole networks that the device holds.
    const offloads = config.named("fsdp_cpu_offload").some(({ value }) => value === true);
    if (offloads || config.settings.some(({ key }) => key.startsWith("lora_"))) return;
    for (const { value, valueAt, path } of config.named("_component_")) {
      const place = path.slice(0, -"_component_".length);
      const said = config.settings.filter((one) => one.path.startsWith(place));
      if (
        typeof value === "string" &&
        /^torch\.optim\.AdamW?$/.test(value) &&
        !said.some((one) => one.path === `${place}${one.key}` && choosesPath(one))
      )
        yield { at: valueAt, message: MESSAGE };
    }
  },
};
