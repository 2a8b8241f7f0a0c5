import { isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Comp, Expr, For, Name, Node } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { given, hidesArguments } from "../facts/arguments.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "The whole unsharded model is gathered on the device before it is saved: the save needs the memory that sharding was for";

const WHOLE =
  "The whole unsharded model is gathered on the device here: meanwhile it needs the memory that sharding was for";

const OPTIMIZER =
  "The optimizer's whole unsharded state is gathered on the device before it is saved: the save needs the memory that sharding was for";

export const rule: Rule = {
  meta: {
    code: "PLM075",
    name: "full-state-gathered-on-device",
    summary: "FSDP's full state dict is gathered on the device",
    severity: "warning",
    fix: "unsafe",
    patterns: [75],
  },
  *check({ file, guesses }) {
    yield* wholeTensors(file);
    if (guesses) yield* likelyGathered(file);
    yield* untyped(file);
    for (const call of file.callsNamed("summon_full_params")) {
      const block = call.parent?.kind === "WithItem" ? call.parent.parent : null;
      const offload = keyword(call, "offload_to_cpu");
      if (
        (file.dotted(call.func) ?? "").endsWith(".FullyShardedDataParallel.summon_full_params") &&
        (!offload || isFalse(offload.value)) &&
        // One module at a time is as much as a forward gathers.
        !isFalse(keyword(call, "recurse")?.value ?? null) &&
        /save|checkpoint|ckpt/i.test(file.textOf(functionOf(call) ?? file.tree.module)) &&
        block &&
        !isOfPart(call, file) &&
        /state_dict\(|named_parameters\(|torch\.save|save_\w+\(/.test(file.codeOf(block))
      )
        yield isToSave(call, file)
          ? { at: call, message: MESSAGE }
          : { at: call, severity: "note", message: WHOLE };
    }
    for (const call of file.callsNamed("state_dict_type", "set_state_dict_type")) {
      // The type alone, with its default settings: nothing is offloaded.
      if (
        /\.FullyShardedDataParallel\.(?:state_dict_type|set_state_dict_type)$/.test(
          file.dotted(call.func) ?? "",
        ) &&
        call.args.length === 2 &&
        call.args.every((arg) => arg.star === 0) &&
        file.textOf(call.args[1]!.value).endsWith("FULL_STATE_DICT") &&
        !/load_state_dict/.test(file.textOf(statementOf(call) ?? call)) &&
        !isAlone(call, file)
      )
        yield { at: call, message: MESSAGE };
    }
    for (const call of file.callsNamed(
      "FullStateDictConfig",
      "FullOptimStateDictConfig",
      "StateDictOptions",
    )) {
      const name = file.dotted(call.func) ?? "";
      if (hidesArguments(call, file)) continue;
      const old = /^torch\.distributed\.fsdp\.(?:\w+\.)*Full(?:Optim)?StateDictConfig$/.test(name);
      const options =
        /^torch\.distributed\.checkpoint\.state_dict\.StateDictOptions$/.test(name) &&
        isTrue(given(call, "full_state_dict", file));
      const key = old ? "offload_to_cpu" : "cpu_offload";
      // Options for loading gather nothing.
      if (!(old || options) || given(call, "broadcast_from_rank0", file) || loads(call, file)) continue;
      if (isAlone(call, file)) continue;
      const offload = given(call, key, file);
      if (offload && (isTrue(offload) || offload.kind !== "Const")) continue;
      if (call.args.some((arg) => arg.name === null && arg.star === 0)) continue;
      yield {
        at: call,
        message: name.endsWith("FullOptimStateDictConfig") ? OPTIMIZER : MESSAGE,
        fix: {
          grade: "unsafe",
          title: "Gather on the host",
          edits: offload
            ? [{ start: offload.start, end: offload.end, text: "True" }]
            : addKeyword(call, `${key}=True`, file),
        },
      };
    }
  },
};

const SHARDS = /FSDP|fsdp|FullyShardedDataParallel|fully_shard|full_state_dict|full_tensor/;

/**
 * What is likely: of a file that speaks of sharding, the full type without a setting of its own, a setting that hides what it is given
 * where nobody here speaks of the host, a whole tensor for each entry, or the plain state of what is saved.
 */
function* likelyGathered(file: PythonFile): Generator<Finding> {
  const named = file.callsNamed(
    "state_dict_type",
    "set_state_dict_type",
    "FullStateDictConfig",
    "FullOptimStateDictConfig",
    "StateDictOptions",
    "get_model_state_dict",
    "get_state_dict",
    "summon_full_params",
    "full_tensor",
    "state_dict",
  );
  if (
    named.length === 0 ||
    !file.says(SHARDS) ||
    file.says(/offload_to_cpu\s*=\s*True|cpu_offload\s*=\s*True/)
  )
    return;
  for (const call of named) {
    if (isAlone(call, file) || loads(call, file) || isLoading(call, file)) continue;
    const word = lastWord(call.func);
    const given = (key: string): Expr | null => keyword(call, key)?.value ?? null;
    const full = call.args.some(({ value }) => file.textOf(value).endsWith("FULL_STATE_DICT"));
    const others = call.args.filter(
      ({ value }) =>
        !(value.kind === "Const" && value.value === null) && !file.textOf(value).endsWith("FULL_STATE_DICT"),
    );
    const isWrong = word.endsWith("state_dict_type")
      ? full && others.length <= 1
      : /^Full\w*Config$/.test(word)
        ? given("offload_to_cpu") === null && hidesArguments(call, file) && !file.says(/offload_to_cpu/)
        : word === "StateDictOptions"
          ? isTrue(given("full_state_dict") ?? positional(call, 0)) &&
            !given("cpu_offload") &&
            !positional(call, 1)
          : word === "summon_full_params"
            ? !given("offload_to_cpu") &&
              !isFalse(given("recurse")) &&
              isToSave(call, file) &&
              !isOfPart(call, file)
            : word === "full_tensor"
              ? isKeptWhole(call, file)
              : word === "state_dict" && isPlainState(call, file);
    if (isWrong) yield { at: call, message: MESSAGE };
  }
}

/** For `load_state_dict`, every rank wants what it is given. */
function isLoading(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  const block = ancestors(call).find((at) => at.kind === "With");
  return (
    (fn?.kind === "FunctionDef" && /load|resume|restore|init/i.test(fn.name)) ||
    (block !== undefined && /load_state_dict/.test(file.codeOf(block)))
  );
}

/** `whole[name] = p.full_tensor()`, in a loop over all of them, and not brought to the host in the same turn. */
function isKeptWhole(call: Call, file: PythonFile): boolean {
  const around = ancestors(call).find((at) => at.kind === "For" || at.kind === "Comp");
  if (!around || call.args.length > 0 || !isToSave(call, file)) return false;
  const over = around.kind === "For" ? around.iter : around.kind === "Comp" ? around.clauses[0]!.iter : null;
  if (!over || !isOverState(over, file)) return false;
  return !/\.cpu\(|\.to\(["']cpu|device=["']cpu/.test(file.codeOf(around));
}

/** `net.state_dict()` of what FSDP has wrapped somewhere in this file, where no type is ever chosen. */
function isPlainState(call: Call, file: PythonFile): boolean {
  const { func } = call;
  if (func.kind !== "Attribute" || call.args.length > 0 || !isToSave(call, file)) return false;
  if (file.says(/state_dict_type|SHARDED_STATE_DICT|fully_shard|accelerat|get_state_dict/)) return false;
  // Whoever handed it in may well have wrapped it; what is made here is known.
  const isHanded =
    func.value.kind === "Name"
      ? file.scopes.reaching(func.value).every(({ how }) => how === "param")
      : selfAttribute(func.value) === null;
  return (
    isHanded &&
    /model|net|fsdp|generator|policy|actor/i.test(file.textOf(func.value)) &&
    !/optim|sched|\.module\b|lora|ema/i.test(file.textOf(func.value)) &&
    file
      .callsNamed("FullyShardedDataParallel", "FSDP")
      .some((made) => /fsdp\.(?:\w+\.)*FullyShardedDataParallel$/.test(file.dotted(made.func) ?? "")) &&
    !ancestors(call).some((at) => at.kind === "If" && /not .*fsdp|ddp/i.test(file.textOf(at.test)))
  );
}

/** `model = FSDP(model)`, then `model.state_dict()`: whoever does not say which type gets the full one, on the device. */
function* untyped(file: PythonFile): Generator<Finding> {
  if (!file.mentions("FullyShardedDataParallel") || file.mentions("state_dict_type")) return;
  if (file.mentions("summon_full_params")) return;
  for (const call of file.callsNamed("state_dict")) {
    const { func } = call;
    if (func.kind !== "Attribute" || func.attr !== "state_dict" || call.args.length > 0) continue;
    if (isSharded(func.value, file) && isToSave(call, file) && !isAlone(call, file))
      yield { at: call, severity: "note", message: MESSAGE };
  }
}

/** A name, or an attribute of self, that was wrapped last of all. */
function isSharded(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const [one, ...more] = file.scopes.reaching(expr);
    return more.length === 0 && one?.how === "assign" && shards(one.value, file);
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  const last = writes.at(-1);
  return (
    last !== undefined && shards(last.value, file) && writes.every((write) => write.in.name === "__init__")
  );
}

/** Left on the device, and cut into parts. */
function shards(made: Expr | null, file: PythonFile): boolean {
  return (
    made?.kind === "Call" &&
    /^torch\.distributed\.fsdp\.(?:\w+\.)*FullyShardedDataParallel$/.test(file.dotted(made.func) ?? "") &&
    !hidesArguments(made, file) &&
    !keyword(made, "cpu_offload") &&
    !/NO_SHARD/.test(file.textOf(keyword(made, "sharding_strategy")?.value ?? made.func))
  );
}

/** `if get_world_size() == 1:`: nothing is sharded there. */
function isAlone(call: Call, file: PythonFile): boolean {
  return ancestors(call).some(
    (at) => at.kind === "If" && /world_size\w*(?:\(\))? == 1\b/.test(file.textOf(at.test)),
  );
}

const SAVES = /save|checkpoint|ckpt/i;

/** In a function named after saving, or one that calls something so named. */
function isToSave(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /save|checkpoint|ckpt|export/i.test(fn.name)) return true;
  return file.calls.matching(SAVES).some((one) => functionOf(one) === fn);
}

/** One submodule after the other, as a loop hands them out. */
function isOfPart(call: Call, file: PythonFile): boolean {
  const given = positional(call, 0);
  return given?.kind === "Name" && file.scopes.reaching(given).some(({ how }) => how === "iterate");
}

/** `{name: p.full_tensor() for name, p in model.state_dict().items()}`: each is whole on the device, and all stay there. */
function* wholeTensors(file: PythonFile): Generator<Finding> {
  for (const call of file.callsNamed("full_tensor")) {
    if (call.func.kind !== "Attribute" || call.args.length > 0) continue;
    const moved = call.parent?.kind === "Attribute" && /^(?:cpu|to)$/.test(call.parent.attr);
    const kept = call.parent?.kind === "Comp" && (call.parent.value === call || call.parent.element === call);
    const put = putInto(call, file);
    // Handed to another engine it may well be wanted there.
    if (moved || !(kept || put)) continue;
    const saved = isSaved(put ?? call, file);
    if (!saved && !isReturnedToSave(put ?? call, file)) continue;
    const over = kept
      ? (call.parent as Comp).clauses[0]?.iter
      : ancestors(call).find((at): at is For => at.kind === "For")?.iter;
    if (over && isOverState(over, file))
      yield { at: call, ...(saved ? {} : { severity: "note" as const }), message: MESSAGE };
  }
}

/** What `whole[name] = p.full_tensor()` puts there, also under a name: `full = p.full_tensor()`, then `whole[name] = full`. */
function putInto(call: Call, file: PythonFile): Expr | null {
  const value = call.parent?.kind === "IfExp" && call.parent.test !== call ? call.parent : call;
  const target = assigned(value);
  if (target?.kind === "Subscript") return value;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = made ? file.scopes.uses(made) : [];
  return uses.find((use) => assigned(use)?.kind === "Subscript") ?? null;
}

/** What an expression is assigned to, as it is. */
function assigned(value: Expr): Expr | null {
  return value.parent?.kind === "Assign" && value.parent.value === value
    ? (value.parent.targets[0] ?? null)
    : null;
}

/** `model.state_dict().items()`, also of a state that a name was given to before. */
function isOverState(over: Expr, file: PythonFile): boolean {
  const items = over.kind === "Call" && over.func.kind === "Attribute" ? over.func.value : null;
  const named = items?.kind === "Name" ? file.scopes.onlyValue(items) : null;
  return (
    /state_dict\(|\bsd\b|state\w*\.items\(|parameters\(/.test(file.textOf(over)) ||
    (named?.kind === "Call" && /(?:^|\.)state_dict\(/.test(file.textOf(named)))
  );
}

const WRITES = /save|dump|write/i;

/** In a function that is called after saving, or handed by its name to something that is. */
function isSaved(call: Expr, file: PythonFile): boolean {
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /save|checkpoint|ckpt|export/i.test(fn.name)) return true;
  const statement = statementOf(call);
  const target = statement?.kind === "Assign" ? statement.targets[0] : null;
  const name = target?.kind === "Subscript" ? target.value : target;
  if (name?.kind !== "Name" || isHandedOn(name, file)) return false;
  return file.calls
    .matching(WRITES)
    .some((one) => functionOf(one) === fn && one.args.some(({ value }) => names(value, name.id)));
}

/** `return states`, of a function that only those of this file call that are called after saving; another file may call it too. */
function isReturnedToSave(call: Expr, file: PythonFile): boolean {
  const fn = functionOf(call);
  const statement = statementOf(call);
  const target = statement?.kind === "Assign" ? statement.targets[0] : null;
  const name = target?.kind === "Subscript" ? target.value : target;
  if (fn?.kind !== "FunctionDef" || name?.kind !== "Name" || isHandedOn(name, file)) return false;
  const returned = file
    .all("Return")
    .some((one) => functionOf(one) === fn && one.value?.kind === "Name" && one.value.id === name.id);
  const callers = file.callsNamed(fn.name).map((one) => functionOf(one));
  return (
    returned &&
    callers.length > 0 &&
    callers.every((caller) => caller?.kind === "FunctionDef" && SAVES.test(caller.name))
  );
}

/** `self.sync_weights(gathered)`: whoever gets it wants it on the device, saved or not. */
function isHandedOn(name: Name, file: PythonFile): boolean {
  const definition = file.scopes.definitionAt(name);
  return (
    definition !== null &&
    file.scopes
      .uses(definition)
      .some(
        ({ parent }) =>
          parent?.kind === "Arg" && isCallOf(/sync|broadcast|update_weights|load/i, parent, file),
      )
  );
}

function isCallOf(verb: RegExp, arg: Node, file: PythonFile): boolean {
  return arg.parent?.kind === "Call" && verb.test(file.textOf(arg.parent.func));
}

function names(expr: Expr, id: string): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" && node.id === id) found = true;
    return !found;
  });
  return found;
}

function loads(call: Call, file: PythonFile): boolean {
  for (const at of ancestors(call))
    if (at.kind === "Call") return /(?:^|\.)(?:set_|load_)\w*state_dict$/.test(file.dotted(at.func) ?? "");
  return false;
}
