import { hasStars, isNone, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Arg, Call, Expr } from "../../python/tree.ts";
import { argumentFields } from "../facts/argument-fields.ts";
import { given, hidesArguments, literalDict } from "../facts/arguments.ts";
import { isModuleRole, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "Without `auto_wrap_policy` the model is one unit: each forward and backward gathers all its parameters at once, as if nothing were sharded";

const UNWRAPPED =
  "Without `auto_wrap` the model is one unit: each forward and backward gathers all its parameters at once, as if nothing were sharded";

function isNetwork(expr: Expr | null, facts: Facts): boolean {
  return expr !== null && (facts.networks.is(expr) || facts.value(expr).what === "module");
}

/** `fsdp_config`, unless it is written out and says nothing of wrapping. */
function mayWrap(config: Expr | null, file: PythonFile): boolean {
  const dict = config ? literalDict(config, file) : null;
  return config !== null && (dict === null || /wrap|min_num_params/.test(file.textOf(dict)));
}

/** `get_model(config)`, `AutoModelForCausalLM.from_pretrained(name)` */
function isMade(arg: Arg | undefined): boolean {
  return arg?.value.kind === "Call" && /model|from_pretrained|^from_config$/i.test(lastWord(arg.value.func));
}

/** What gives back the network that it is called on. */
const MOVES =
  /^(?:to|cuda|cpu|half|float|bfloat16|double|type|train|eval|requires_grad_|share_memory|to_empty)$/;

/** `model` of `model.to(device).train()`. */
function unmoved(expr: Expr): Expr {
  let at = expr;
  while (at.kind === "Call" && at.func.kind === "Attribute" && MOVES.test(at.func.attr)) at = at.func.value;
  return at;
}

/** `model`, `model.to(device)`, `average = copy.deepcopy(model)`, and `self.model` of a trainer: that of a network is a part of it. */
function isWholeNetwork(expr: Expr | null, facts: Facts, depth = 0): boolean {
  const model = expr && unmoved(expr);
  if (!model || depth > 4) return false;
  const again = (inner: Expr | null): boolean => isWholeNetwork(inner, facts, depth + 1);
  if (model.kind === "Call")
    return facts.file.dotted(model.func) === "copy.deepcopy" && again(positional(model, 0));
  if (model.kind === "Name") {
    const [one, ...more] = facts.file.scopes.reaching(model);
    return (
      isNetwork(model, facts) ||
      (one?.how === "assign" && more.length === 0 && one.value?.kind === "Call" && again(one.value))
    );
  }
  const cls = selfAttribute(model) === null ? null : classOf(model);
  return cls !== null && !isModuleRole(facts.role(cls)) && isNetwork(model, facts);
}

/** `model.encoder = FSDP(encoder)`: a part, which goes back into the whole. */
function isPutBack({ parent }: Call): boolean {
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  return target?.kind === "Subscript" || (target?.kind === "Attribute" && selfAttribute(target) === null);
}

/** In a function that calls itself, for each child of a module. */
function isRecursive(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  return fn?.kind === "FunctionDef" && file.callsNamed(fn.name).some((one) => contains(fn, one));
}

/** `setup(model)`, of which the function makes `FSDP(model)`: not a part of another, nor each of many. */
function isHandedWhole(call: Call, file: PythonFile): boolean {
  const model = positional(call, 0);
  const [one, ...more] = model?.kind === "Name" ? file.scopes.reaching(model) : [];
  const handed = one && more.length === 0 ? handedIn(one, file, true) : [];
  return (
    handed.length > 0 && handed.every((given) => given.kind === "Name" && loopsAround(given).length === 0)
  );
}

/** What makes units by hand, or says which there are. */
const WRAPS_PARTS = /\bwrap\(|enable_wrap|apply_fsdp|NO_SHARD/;

/** The whole, as far as one can see: no part of another network, and handed to this function once, outside of loops. */
function isLikelyWhole(call: Call, file: PythonFile): boolean {
  const model = positional(call, 0) ?? keyword(call, "module")?.value ?? null;
  if (!model || loopsAround(call).length > 0 || isPutBack(call) || isRecursive(call, file)) return false;
  if (keyword(call, "policy") || hasPolicy(call, file) || functionOf(call)?.kind === "Lambda") return false;
  const of = unmoved(model);
  if (of.kind === "Subscript" || (of.kind === "Attribute" && PARTS.test(of.attr))) return false;
  const fn = functionOf(call);
  return fn?.kind !== "FunctionDef" || file.callsNamed(fn.name).every((one) => loopsAround(one).length === 0);
}

const PARTS = /layer|block|encoder|decoder|embed|head|backbone|trunk|tower|mlp|attn/i;

/** `auto_wrap_policy=policy`, written or among `**settings`, unless that is None whatever happens. */
function hasPolicy(call: Call, file: PythonFile): boolean {
  const policy = given(call, "auto_wrap_policy", file) ?? positional(call, 3);
  if (!policy) return hidesArguments(call, file) && file.says(/wrap\w*policy/);
  return policy.kind !== "Name" ? !isNone(policy) : !isNone(file.scopes.onlyValue(policy));
}

/** One wrapper in a file that never speaks of parts; also one that is kept to be called, `wrap = partial(FSDP, device_id=0)`. */
function* likely(file: PythonFile): Generator<Finding> {
  const wraps = file.callsNamed("FullyShardedDataParallel").filter(({ args }) => args.length > 0);
  const byName = file.callsNamed("partial").filter((call) => isOfFsdp(call, file));
  if (wraps.length + byName.length !== 1 || file.says(WRAPS_PARTS)) return;
  for (const call of wraps) if (isLikelyWhole(call, file)) yield { at: call.func, message: MESSAGE };
  for (const call of byName) if (!hasPolicy(call, file)) yield { at: call, message: MESSAGE };
}

function isOfFsdp({ args: [first] }: Call, file: PythonFile): boolean {
  return first !== undefined && file.dotted(first.value)?.endsWith(".FullyShardedDataParallel") === true;
}

const STRATEGY = /^(?:pytorch_)?lightning(?:_fabric)?\.(?:\w+\.)*FSDPStrategy$/;

/** What sees to the units itself: a class that sets the model up in a way of its own, or a model that wraps its parts. */
const SETS_UP = /wrap_policy|\bwrap\(|enable_wrap|fully_shard|def _?setup_(?:module|model)\b/;

/** `Saving(precision=half)` of `class Saving(FSDPStrategy):`, which changes something else. */
function strategiesOfOwn(file: PythonFile): readonly Call[] {
  if (!file.mentions("FSDPStrategy") || file.says(/configure_(?:model|sharded_model)|\bwrap\(/)) return [];
  const names = new Set<string>();
  for (const cls of file.all("ClassDef")) {
    const isOne = cls.args.some(({ value }) => {
      const base = file.dotted(value) ?? "";
      return STRATEGY.test(base) || names.has(base);
    });
    if (isOne && !SETS_UP.test(file.codeOf(cls))) names.add(file.qualified(cls));
  }
  return [...names].flatMap((name) =>
    file.callsNamed(last(name)).filter(({ func }) => file.dotted(func) === name),
  );
}

export const rule: Rule = {
  meta: {
    code: "PLM059",
    name: "fsdp-without-wrap-policy",
    summary: "FSDP wraps the whole model as one unit: all parameters are gathered at once",
    severity: "warning",
    fix: "none",
    patterns: [59],
  },
  *check(facts) {
    const { file } = facts;
    if (facts.guesses) yield* likely(file);
    for (const call of file.calls.given(["fsdp"])) {
      const asked = keyword(call, "fsdp")!;
      const items = asked.value.kind === "List" ? asked.value.items : [asked.value];
      const words = items.map((item) => (item.kind === "Str" ? (item.value ?? "") : "auto_wrap")).join(" ");
      if (
        /shard/.test(words) &&
        !/auto_wrap/.test(words) &&
        /(?:Arguments|Config)$/.test(file.dotted(call.func) ?? "") &&
        !hasStars(call) &&
        !mayWrap(keyword(call, "fsdp_config")?.value ?? null, file) &&
        !keyword(call, "fsdp_transformer_layer_cls_to_wrap")
      )
        yield { at: asked, message: UNWRAPPED };
    }
    // `fsdp: str = field(default="full_shard")` of arguments of its own, and nobody here says more of it.
    if (!file.says(/auto_wrap|fsdp_config|layer_cls_to_wrap/))
      for (const { at, value } of argumentFields(file, "fsdp"))
        if (value.kind === "Str" && /shard/.test(value.value ?? "")) yield { at, message: UNWRAPPED };
    for (const call of file.callsNamed("FullyShardedDataParallelPlugin")) {
      const policy = keyword(call, "auto_wrap_policy");
      const none = policy?.value.kind === "Str" && policy.value.value?.toUpperCase() === "NO_WRAP";
      // Without one, `accelerate launch` may still name it.
      if ((policy && !none) || hasStars(call)) continue;
      yield { at: policy ?? call.func, ...(none ? {} : { severity: "note" as const }), message: MESSAGE };
    }
    for (const call of file.calls.given(["strategy"])) {
      const strategy = keyword(call, "strategy")!;
      if (
        strategy.value.kind === "Str" &&
        /^fsdp(?:_native|_full_shard\w*)?$/.test(strategy.value.value ?? "") &&
        !file.says(/configure_(?:model|sharded_model)|\bwrap\(/)
      )
        // The model may wrap its own parts, in a file of its own.
        yield { at: strategy, severity: "note", message: MESSAGE };
    }
    for (const call of strategiesOfOwn(file))
      if (!hasStars(call) && !keyword(call, "auto_wrap_policy") && !keyword(call, "policy"))
        yield { at: call.func, severity: "note", message: MESSAGE };
    if (file.callsNamed("FullyShardedDataParallel", "fully_shard", "FSDPStrategy").length === 0) return;
    const named = (pattern: RegExp): Call[] =>
      file.all("Call").filter((call) => pattern.test(file.dotted(call.func) ?? ""));
    for (const call of named(STRATEGY))
      if (!hasStars(call) && !keyword(call, "auto_wrap_policy") && !keyword(call, "policy"))
        yield { at: call.func, message: MESSAGE };
    // `fully_shard` of the root alone, with no loop over its blocks before.
    const shards = named(/^torch\.distributed\.(?:_composable\.)?fsdp\.(?:\w+\.)*fully_shard$/);
    if (
      shards.length === 1 &&
      loopsAround(shards[0]!).length === 0 &&
      !isRecursive(shards[0]!, file) &&
      (isNetwork(positional(shards[0]!, 0), facts) || (facts.guesses && isLikelyWhole(shards[0]!, file)))
    )
      yield { at: shards[0]!.func, message: MESSAGE };
    const wraps = named(
      /^torch\.distributed\.fsdp\.(?:fully_sharded_data_parallel\.)?FullyShardedDataParallel$/,
    ).filter(({ args }) => args.length > 0);
    // Several wraps of parts, or `wrap()` inside the model, make units by hand; a policy and its reference are two models.
    // So are those that are each made on the spot, `FSDP(get_model(config))`, or handed to a function of their own.
    const models = new Set(
      wraps.map((call) => {
        const [model] = call.args;
        const owner = wraps.every((one) => isHandedWhole(one, file)) ? functionOf(call) : null;
        return isMade(model) ? model : `${owner?.start} ${file.textOf(unmoved(model!.value))}`;
      }),
    );
    const whole =
      models.size === wraps.length &&
      wraps.every(
        (call) =>
          loopsAround(call).length === 0 &&
          !isPutBack(call) &&
          (isMade(call.args[0]) || isWholeNetwork(positional(call, 0), facts)),
      );
    if ((wraps.length !== 1 && !whole) || named(/^torch\.distributed\.fsdp\.wrap\.(?!\w*policy)/i).length > 0)
      return;
    for (const call of wraps) {
      const policy = given(call, "auto_wrap_policy", file);
      if (
        hidesArguments(call, file) ||
        // Nothing is sharded, so nothing is gathered.
        /NO_SHARD/.test(file.codeOf(call)) ||
        (policy && !isNone(policy.kind === "Name" ? file.scopes.onlyValue(policy) : policy)) ||
        call.args.filter((arg) => arg.name === null).length > 4
      )
        continue;
      yield { at: call.func, message: MESSAGE };
    }
  },
  *checkConfig(config) {
    // As axolotl has it, `fsdp:` and a list of words.
    const listed = /^fsdp:[ \t]*(?:\[([^\]\n]*)\]|(?:#[^\n]*)?\n((?:[ \t]*-[ \t]*\w[^\n]*(?:\n|$))+))/m.exec(
      config.text,
    );
    const words = listed?.[1] ?? listed?.[2] ?? "";
    if (
      listed &&
      /shard/.test(words) &&
      !/auto_wrap/.test(words) &&
      !config.settings.some(({ path }) => path.includes("wrap"))
    )
      yield { at: { start: listed.index, end: listed.index + "fsdp".length }, message: UNWRAPPED };
    for (const setting of config.named("strategy"))
      if (
        /^fsdp(?:_native|_full_shard\w*)?$/.test(String(setting.value)) &&
        config.besides(setting, /^(?:devices|gpus|max_epochs|max_steps|precision)$/)
      )
        // The model may wrap its own parts.
        yield { at: setting.valueAt, severity: "note", message: MESSAGE };
    const fsdp = config.settings.some(
      ({ key, value, path }) =>
        (key === "distributed_type" && value === "FSDP") ||
        (key === "fsdp" && typeof value === "string" && value !== "") ||
        // A list of words beside it; accelerate's own file says more, and may keep it unused.
        (path.startsWith("fsdp_config.") && !config.has("distributed_type")),
    );
    if (!fsdp) return;
    for (const { value, valueAt } of config.named("fsdp"))
      if (
        typeof value === "string" &&
        /shard/.test(value) &&
        !/auto_wrap/.test(value) &&
        !config.settings.some(({ path }) => /wrap|fsdp_config/.test(path))
      )
        yield { at: valueAt, message: UNWRAPPED };
    for (const setting of config.named("fsdp_auto_wrap_policy"))
      if (setting.value === "NO_WRAP")
        yield {
          at: setting.valueAt,
          message:
            "With `NO_WRAP` the model is one unit: each forward and backward gathers all its parameters at once, as if nothing were sharded",
        };
  },
};
