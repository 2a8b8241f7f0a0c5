import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, blockOf, classOf, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type {
  Arg,
  Attribute,
  Call,
  Expr,
  FunctionDef,
  Name,
  Node,
  Param,
  Return,
  Subscript,
} from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isKnownTensor } from "./known-tensors.ts";
import { callsOf, paramGiven } from "./returns.ts";

/** Whether what was loaded may come on the host instead of the device it was saved from. */

/** What copies into something that has a place of its own. */
const COPIES =
  /load_(?:\w+_)?state_?dict|(?:^|_)load_(?:\w+_)?(?:state|weights|params?|parameters|pretrained\w*)(?:_|$)|^set_\w*state_dict\w*$|^copy_$|^load_from_state_dict$/;

/** Asks what is there, or says it. */
const ASKS =
  /^(?:print|len|isinstance|type|str|repr|int|float|bool|hasattr|id|info|debug|warn|warning|log|print_log|write|pprint|any|all|is_tensor|exists)$/;

/** Puts the same tensors into something else. */
const HOLDS =
  /^(?:OrderedDict|defaultdict|dict|list|tuple|sorted|reversed|enumerate|zip|iter|next|set|deepcopy|copy|map|filter|getattr|EasyDict|Parameter|DataParallel|DistributedDataParallel|remove_prefix|strip_prefix)$/;

/** Methods and attributes that hand on what they are asked of, where that is. */
const PASSES =
  /^(?:items|values|get|pop|setdefault|copy|state_dict|float|half|double|bfloat16|detach|clone|contiguous|view|reshape|permute|transpose|squeeze|unsqueeze|flatten|t|T|data|module|eval|train|reset|requires_grad_|mean|sum|abs|named_parameters|parameters|repeat|expand|unfold|chunk|split|flip|type|weight|bias|mT)$/;

const MOVES = /^(?:to|cuda|cpu|npu|xpu|numpy|item|tolist|xla)$/;

/** What strings do; of a tensor it is nothing, or a question. */
const OF_TEXT =
  /^(?:startswith|endswith|replace|strip|lstrip|rstrip|removeprefix|removesuffix|join|format|lower|upper|find|index|count|match|sub|search|fullmatch|partition|rpartition)$/;

/** Makes of a state dict another one, by its name. */
const REMAKES =
  /^_?(?:convert|transfer|remap|rename|strip|clean|adapt|filter|fix|remove|resize|interpolate|unwrap|match|extract|replace)(?:_\w*)?$/;

const TELLS =
  /^(?:_metadata|keys|shape|size|dim|ndim|numel|nelement|dtype|update|clear|append|extend|insert|sort|reverse|load_state_dict|__class__|__len__|named_modules)$/;

/** Numbers, names and settings, by the key they are under. */
const PLAIN_KEY =
  /(?:^|_)(?:epochs?|steps?|iters?|iterations?|iter_num|it|best|acc\w*|loss\w*|lr|args|opts?|options|config|cfg|conf|hparams|hyper_?param(?:eter)?s|version|name|seed|metrics?|scores?|vocab\w*|class(?:es)?|names|settings|kwargs|meta|info|rng|time|size|dims?|arch|psnr|ssim|bleu|fid|history|log|errors?|patience|count|num|idx|params_dict|model_args|git\w*|date|prec\d?|top\d|hp|str)(?:\d|_|$)/i;
const TENSORS_KEY =
  /state|(?:^|_)(?:model|net\w*|weights?|ema|optim\w*|params?|parameters|encoder|decoder|generator)$/i;

interface Search {
  readonly facts: Facts;
  readonly seen: Set<unknown>;
  /** Joined by torch with others, as tensors alone are. */
  joined: boolean;
}

/**
 * All that becomes of a loaded value is copied to where something else is, moved, or asked for a number: a state dict that a network
 * loads, a network that is sent to the device. What is used as it comes must come where it is used.
 */
export function isPlacedLater(loaded: Expr, facts: Facts): boolean {
  return settles(loaded, { facts, seen: new Set(), joined: false }, 0);
}

/**
 * A tensor that is kept beside others, and all that becomes of them would be the same on the host: they are joined and copied there,
 * shown or saved. Compared with what stays on the device, or gathered from all ranks, they must be there.
 */
export function isKeptForHost(added: Expr, facts: Facts): boolean {
  const search: Search = { facts, seen: new Set(), joined: false };
  return !isDict(added, facts) && settles(added, search, 0) && (search.joined || isKnownTensor(added, facts));
}

/** `out["logits"]`, `out.items()` of what is kept whole. */
function isDict(added: Expr, { file }: Facts): boolean {
  const made = added.kind === "Name" ? file.scopes.reaching(added) : [];
  return made
    .flatMap((one) => file.scopes.uses(one))
    .some(({ parent }) =>
      parent?.kind === "Subscript"
        ? parent.index.kind === "Str"
        : parent?.kind === "Attribute" && /^(?:items|keys|values|get|update)$/.test(parent.attr),
    );
}

function settles(expr: Expr, search: Search, depth: number): boolean {
  if (depth > 24) return false;
  const { facts } = search;
  const on = (one: Expr): boolean => settles(one, search, depth + 1);
  const { parent } = expr;
  switch (parent?.kind) {
    case "Arg":
      return isGivenTo(parent, search, depth);
    case "Attribute":
      return isAsked(parent, search, depth);
    case "Subscript":
      // As a key it is a name.
      return parent.value !== expr || isPlainEntry(parent) || isStored(parent) || on(parent);
    case "Assign":
      return parent.value !== expr || parent.targets.every((target) => isBoundTo(target, search, depth));
    case "Walrus":
      return isBoundTo(parent.target, search, depth) && on(parent);
    case "For":
    case "Clause":
      return parent.iter !== expr || isGoneThrough(parent.target, expr, search, depth);
    case "Tuple": {
      const at = parent.items.indexOf(expr);
      if (parent.parent?.kind === "Return") return isReturned(parent.parent, at, search, depth);
      const target = parent.parent?.kind === "Assign" ? parent.parent.targets[0] : null;
      return target?.kind === "Tuple" && target.items.length === parent.items.length
        ? isBoundTo(target.items[at]!, search, depth)
        : on(parent);
    }
    case "Comp":
    case "Dict":
    case "List":
    case "Set":
    case "Starred":
      return on(parent);
    case "IfExp":
      return parent.test === expr || on(parent);
    case "Bool":
      return /^(?:If|While|Assert|IfExp|Bool|Unary)$/.test(parent.parent?.kind ?? "") || on(parent);
    case "Binary":
      return isWithNumber(parent.left === expr ? parent.right : parent.left, facts) && on(parent);
    case "Unary":
      return parent.op === "not" || on(parent);
    case "AugAssign":
      return parent.value === expr && parent.op === "+" && isHeldBy(parent.target, search, depth);
    case "Return":
      return isReturned(parent, null, search, depth);
    case "Compare":
      return [parent.left, ...parent.rights].every(
        (one) =>
          one === expr ||
          one.kind === "Const" ||
          isWithNumber(one, facts) ||
          /^(?:not )?in$/.test(parent.ops[0]!),
      );
    case "Str":
    case "If":
    case "While":
    case "Assert":
    case "Delete":
    case "ExprStmt":
      return true;
    default:
      return false;
  }
}

/** What the calls in this file make of it, or of one of several that are returned together. */
function isReturned(by: Return, index: number | null, search: Search, depth: number): boolean {
  const { file } = search.facts;
  if (search.seen.has(by)) return true;
  search.seen.add(by);
  const fn = functionOf(by);
  const end = fn?.kind === "FunctionDef" ? epochEnd(fn) : null;
  const given = end && file.scopes.definitionAt(end);
  if (given) return isSettled(given, search, depth);
  const calls = fn?.kind === "FunctionDef" ? callsOf(fn, file) : [];
  return (
    calls.length > 0 &&
    calls.every((call) => {
      const target = index !== null && call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
      const part = target?.kind === "Tuple" ? target.items[index!] : undefined;
      return part ? isBoundTo(part, search, depth) : settles(call, search, depth + 1);
    })
  );
}

/** An argument of a call: of one that copies it, that says it, or of a function of this file that does nothing else with it. */
function isGivenTo(arg: Arg, search: Search, depth: number): boolean {
  const { facts } = search;
  const { file } = facts;
  const call = arg.parent;
  if (call?.kind !== "Call") return false;
  const word = lastWord(call.func);
  const name = file.dotted(call.func) ?? "";
  if (ASKS.test(word) || /\.set_rng_state\w*$/.test(name)) return true;
  const param = paramGiven(call, arg, file);
  const given = param && file.scopes.definitionAt(param);
  if (given) return isSettled(given, search, depth);
  if (COPIES.test(word)) return true;
  if (call.func.kind === "Attribute" && OF_TEXT.test(word)) return true;
  // `state.pop(key)`
  if (call.func.kind === "Attribute" && /^(?:pop|get)$/.test(word) && call.args[0] === arg) return true;
  if (word === "getattr" && isToldBy(positional(call, 1))) return true;
  if (HOLDS.test(word) || REMAKES.test(word)) return settles(call, search, depth + 1);
  // `net_state.update(state)`, `parts.append(state)`
  if (/^(?:update|append|extend)$/.test(word) && call.func.kind === "Attribute")
    return isHeldBy(call.func.value, search, depth);
  // Computed with nothing that is on the device, as far as is seen.
  if (/^torch\.(?:cat|concat|concatenate|stack|vstack|hstack)$/.test(name)) search.joined = true;
  if (name.startsWith("torch.") && !/^torch\.(?:save|jit|utils|distributed)\b/.test(name))
    return (
      call.args.every(({ value }) => value === arg.value || isOfHost(value, facts)) &&
      settles(call, search, depth + 1)
    );
  return name === "torch.save";
}

/** `loaded.to(device)`, `loaded["model"].items()`, `loaded.shape` */
function isAsked(attribute: Attribute, search: Search, depth: number): boolean {
  const { attr, parent } = attribute;
  const call = parent?.kind === "Call" && parent.func === attribute ? parent : null;
  if (TELLS.test(attr) || PLAIN_KEY.test(attr)) return true;
  if (call && OF_TEXT.test(attr)) return settles(call, search, depth + 1);
  if (call && MOVES.test(attr)) return !isCast(call, search.facts.file) || settles(call, search, depth + 1);
  if (!PASSES.test(attr)) return false;
  if (call && isPlainKey(positional(call, 0))) return true;
  return settles(call ?? attribute, search, depth + 1);
}

/** `loaded.to(torch.float16)` */
function isCast(call: Call, file: PythonFile): boolean {
  const [first, ...more] = call.args;
  return (
    lastWord(call.func) === "to" &&
    (!first ||
      (more.length === 0 &&
        (first.name === "dtype" || /^torch\.b?(?:float|half|int|long)/.test(file.dotted(first.value) ?? ""))))
  );
}

function isToldBy(name: Expr | null): boolean {
  return (
    name?.kind === "Str" && name.value !== null && (TELLS.test(name.value) || PLAIN_KEY.test(name.value))
  );
}

function isPlainEntry({ index }: Subscript): boolean {
  return isPlainKey(index);
}

function isPlainKey(key: Expr | null): boolean {
  const word = key?.kind === "Str" ? (key.value ?? "") : "";
  return PLAIN_KEY.test(word) && !TENSORS_KEY.test(word);
}

/** `state["head"] = weight`, `del state["head"]` change the state itself. */
function isStored(entry: Subscript): boolean {
  const { parent } = entry;
  return (
    parent?.kind === "Delete" ||
    (parent?.kind === "Assign" && parent.targets.includes(entry)) ||
    (parent?.kind === "AugAssign" && parent.target === entry)
  );
}

/** A name, several of them, an entry of something else, an attribute of self. */
function isBoundTo(target: Expr, search: Search, depth: number): boolean {
  const { facts } = search;
  if (target.kind === "Name") {
    const made = facts.file.scopes.definitionAt(target);
    return made !== null && isSettled(made, search, depth);
  }
  if (target.kind === "Tuple" || target.kind === "List")
    return target.items.every((item) => isBoundTo(item, search, depth));
  if (target.kind === "Starred") return isBoundTo(target.value, search, depth);
  if (target.kind === "Subscript") return isHeldBy(target.value, search, depth);
  return selfAttribute(target) !== null && isOwn(target as Attribute, search, depth);
}

/** Whatever reads a definition settles it, or it is a network that is moved in place before it is used. */
function isSettled(made: Definition, search: Search, depth: number): boolean {
  if (search.seen.has(made)) return true;
  search.seen.add(made);
  const uses = search.facts.file.scopes.uses(made);
  const moved = uses.find((use) => isMovedInPlace(use, made.node));
  return (
    (uses.length > 0 || made.how === "unpack") &&
    uses.every((use) => (moved !== undefined && use.start >= moved.start) || settles(use, search, depth + 1))
  );
}

/** `net.to(device)` as a statement of its own, in the block that has loaded it, or where there is a device to send it to. */
function isMovedInPlace(use: Expr, loaded: Node): boolean {
  let at: Node = use;
  let moves = false;
  while (at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call") {
    moves ||= /^(?:to|cuda)$/.test(at.parent.attr);
    at = at.parent.parent;
  }
  const statement = at.parent;
  if (!moves || statement?.kind !== "ExprStmt") return false;
  const [from, block] = [statementOf(loaded), blockOf(statement)];
  if (!block) return false;
  if (from === null || block.some((one) => one === from || ancestors(from).includes(one))) return true;
  // `if args.cuda: net.cuda()`
  const test = statement.parent;
  return test?.kind === "If" && /cuda|gpu|device/i.test(testWords(test.test));
}

function testWords(test: Expr): string {
  if (test.kind === "Name") return test.id;
  if (test.kind === "Attribute") return `${testWords(test.value)}.${test.attr}`;
  if (test.kind === "Call") return testWords(test.func);
  return test.kind === "Bool" ? test.values.map(testWords).join(" ") : "";
}

/** `kept` of `kept[name] = loaded`: whatever that is read for. */
function isHeldBy(root: Expr, search: Search, depth: number): boolean {
  // `self.__dict__[name] = part`: whoever reads any attribute reads it.
  if (root.kind === "Attribute" && root.attr === "__dict__") return false;
  if (root.kind === "Subscript" && root.index.kind === "Str" && root.value.kind === "Name")
    return isHeldUnder(root.value, root.index.value, search, depth);
  if (root.kind === "Subscript") return isHeldBy(root.value, search, depth);
  if (root.kind === "Name")
    return search.facts.file.scopes.reaching(root).every((one) => isSettled(one, search, depth));
  return selfAttribute(root) !== null && isOwn(root as Attribute, search, depth);
}

/** `kept["scores"]`, wherever that is read; what stands under other keys is another thing. */
function isHeldUnder(holder: Name, key: string | null, search: Search, depth: number): boolean {
  const { scopes } = search.facts.file;
  return scopes.reaching(holder).every((one) => {
    const entry = `${one.node.start} ${key}`;
    if (search.seen.has(one) || search.seen.has(entry)) return true;
    search.seen.add(entry);
    return scopes.uses(one).every((use) => {
      const { parent } = use;
      const isOther =
        parent?.kind === "Subscript" && parent.index.kind === "Str" && parent.index.value !== key;
      return isOther || settles(use, search, depth + 1);
    });
  });
}

/** `outputs` of `def validation_epoch_end(self, outputs)`, for what the step beside it returns. */
function epochEnd(step: FunctionDef): Param | null {
  const cls = classOf(step);
  if (!cls || !/^(?:validation|test|predict)_step$/.test(step.name)) return null;
  const name = step.name.replace(/step$/, "epoch_end");
  return methodsOf(cls).find((method) => method.name === name)?.params[1] ?? null;
}

/** `self.loaded`, wherever the file reads it. */
function isOwn(target: Attribute, search: Search, depth: number): boolean {
  const key = `self.${target.attr}`;
  if (search.seen.has(key)) return true;
  search.seen.add(key);
  const { file } = search.facts;
  const fn = functionOf(target);
  const reads = file
    .all("Attribute")
    .filter(
      (one) =>
        one.attr === target.attr && !(one.parent?.kind === "Assign" && one.parent.targets.includes(one)),
    );
  if (
    reads.some((read) => functionOf(read) === fn && read.start > target.start && isMovedInPlace(read, target))
  )
    return true;
  return reads.length > 0 && reads.every((read) => settles(read, search, depth + 1));
}

/** `for name, weight in loaded.items()`, `for name in loaded` that goes on to read `loaded[name]`. */
function isGoneThrough(target: Expr, over: Expr, search: Search, depth: number): boolean {
  const word = over.kind === "Call" ? lastWord(over.func) : "";
  if (
    /^(?:items|named_parameters|enumerate)$/.test(word) &&
    target.kind === "Tuple" &&
    target.items.length === 2
  )
    return isBoundTo(target.items[1]!, search, depth);
  if (target.kind === "Name" && over.kind === "Name") {
    const made = search.facts.file.scopes.definitionAt(target);
    const uses = made ? search.facts.file.scopes.uses(made) : [];
    if (
      uses.some(
        ({ parent }) =>
          parent?.kind === "Subscript" && parent.value.kind === "Name" && parent.value.id === over.id,
      )
    )
      return true;
  }
  return isBoundTo(target, search, depth);
}

/** A number, a text, a shape: it meets a tensor wherever that is. */
function isWithNumber(other: Expr, facts: Facts): boolean {
  return /^(?:number|string|container)$/.test(facts.value(other).what) || other.kind === "Str";
}

/** What a tensor on the host can be computed with: not what is on the device, as a parameter of a network may be. */
function isOfHost(value: Expr, facts: Facts): boolean {
  if (/^(?:Num|Str|Const)$/.test(value.kind)) return true;
  if (value.kind === "Tuple" || value.kind === "List")
    return value.items.every((one) => isOfHost(one, facts));
  return !/^(?:tensor|output|module)$/.test(facts.value(value).what) || facts.value(value).device === "cpu";
}
