import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { madeBefore } from "../facts/handed-around.ts";
import { isPinnedParam } from "../facts/handed-loaders.ts";
import { iteratedText, loadersOf, mayPin, pinsBatches } from "../facts/loaders.ts";
import { isNetwork } from "../facts/networks.ts";
import { hasOwnBoxes } from "../facts/project-words.ts";
import { makesPinned } from "../facts/pinned-makers.ts";
import { isKnownUnpinned, likelyBatch, likelyPins } from "../facts/likely-data.ts";
import { nextOf } from "../facts/next-batches.ts";
import { callsOf, returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { loopsAround } from "../facts/training.ts";
import { mayOverlap, overlapFlag, paramBehind } from "../facts/transfers.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM037",
    name: "blocking-copy-from-pinned",
    summary: "A pinned batch is copied to the device without `non_blocking=True`",
    severity: "warning",
    fix: "unsafe",
    patterns: [37],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    // "loader" or "Loader": one that a function of another file makes may pin.
    if (
      !file.mentions("pin_memory") &&
      !facts.pins &&
      !file.mentions("oader") &&
      facts.project.pinnedParams.size === 0 &&
      !facts.guesses
    )
      return;
    // Metal shares the host's memory: a loader pins nothing for it.
    if (file.mentions("mps") && !file.mentions("cuda")) return;
    // Then every launch waits, and nothing overlaps with a copy: another rule tells of that. What is converted on the way is so
    // by the host all the same, unless the copy may be left to itself.
    const waits = file.says(/CUDA_LAUNCH_BLOCKING["']\]?\s*[=,]\s*["']1/);
    const packs = facts.project.packing.has(file.module);
    for (const call of file.callsNamed("to", "cuda")) {
      if (call.func.kind !== "Attribute" || !/^(?:to|cuda)$/.test(call.func.attr)) continue;
      if (mayOverlap(call) || (waits && !isHalved(call, facts))) continue;
      const flag = overlapFlag(call);
      const device = keyword(call, "device")?.value ?? positional(call, 0);
      if (call.func.attr === "to" && !facts.isAccelerator(facts.device(device))) continue;
      if (mayBeBox(call, facts)) continue;
      if (facts.guesses) {
        if (isLikelyPinned(call, facts)) yield { at: call, message: WAITS };
        continue;
      }
      const trains = facts.everyStep(call) !== null;
      if (!isFromPinned(call, facts, mayBePinned) && !isGivenUnseen(call.func.value, facts)) continue;
      yield {
        at: call,
        ...(trains &&
        !waits &&
        file.mentions("pin_memory") &&
        isFromPinned(call, facts, isPinned) &&
        !packs &&
        !isReadAtOnce(call) &&
        !isHandedToHelper(call, facts)
          ? {}
          : { severity: "note" as const }),
        message: waits
          ? "The loader pins its batches, yet the host converts this one into memory that is not pinned, and copies that; with `non_blocking=True` the copy comes first, and the device converts"
          : WAITS,
        fix: {
          grade: "unsafe",
          title: "Copy without waiting",
          edits: flag
            ? [{ start: flag.start, end: flag.end, text: "True" }]
            : addKeyword(call, "non_blocking=True", file),
        },
      };
    }
    if (!waits && !facts.guesses) yield* elsewhere(facts);
  },
};

const WAITS =
  "The loader pins its batches, yet the host waits for this copy; with `non_blocking=True` it goes on and the copy overlaps";

/** A part of a batch by what it is called and where it comes from, in a program in which a loader pins. */
function isLikelyPinned(call: Call & { func: Expr }, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const moved = call.func.kind === "Attribute" ? call.func.value : null;
  if (!moved || !likelyPins(facts) || !likelyBatch(moved, file) || isPicked(moved, facts)) return false;
  // What is computed or converted on the host is not pinned, whatever it was made of.
  if (moved.kind === "Call" && nextOf(moved, file) === null && !KEEPS.test(lastWord(moved.func)))
    return false;
  if (moved.kind === "Binary" || isOfUnpinned(moved, facts)) return false;
  if (isGraph(moved, facts) || (fn?.kind === "FunctionDef" && NO_STEP.test(fn.name))) return false;
  const [loop] = loopsAround(fn?.kind === "Lambda" ? fn : call);
  return (
    (loop !== undefined && facts.frequency(call, loop) === "every") ||
    facts.everyStep(call) !== null ||
    (fn?.kind === "FunctionDef" &&
      (TAKES_BATCH.test(fn.name) || /to_(?:device|cuda|gpu)|cuda$/.test(fn.name)))
  );
}

const KEEPS = /^(?:pin_memory|get|pop|view|reshape|unsqueeze|squeeze|Variable|detach|contiguous)$/;

const NO_STEP =
  /collate|^__|^forward$|eval|valid|(?:^|_)val(?:_|$)|test|infer|predict|sample|generat|visual|plot/i;

/** For an evaluation, made in this file without pinning, or handed in where every call gives what does not pin. */
function isOfUnpinned(moved: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (isKnownUnpinned(moved, facts)) return true;
  if (
    loopsAround(moved).some(
      (loop) => loop.kind === "For" && /val|test|eval|dev_?loader/i.test(file.textOf(loop.iter)),
    )
  )
    return true;
  const source = batchSource(moved, facts);
  const made = (source?.kind === "Name" ? madeBefore(source, file) : null) ?? [];
  return made.some((one) => loadersOf(one, facts)?.some((call) => !mayPin(call, file)) ?? false);
}

/** `samples.to(device)`, where the tree has a class for pictures and their mask: what a loader cannot pin it hands out as it is. */
function mayBeBox(call: Call & { func: Expr }, { project }: Facts): boolean {
  return (
    call.func.kind === "Attribute" &&
    call.func.attr === "to" &&
    call.args.length === 1 &&
    /^(?:nested\w*|samples?|images?|videos?|frames?|inputs?|batch\w*|data)$/.test(
      partName(call.func.value),
    ) &&
    hasOwnBoxes(project)
  );
}

/** `samples` also of `batch["samples"]`. */
function partName(expr: Expr): string {
  return expr.kind === "Subscript" && expr.index.kind === "Str" ? (expr.index.value ?? "") : lastWord(expr);
}

/** `x.to(device, dtype=torch.half)`, `x.to(device, torch.bfloat16)`: a loader hands out float32, or bytes, unless it is told to. */
function isHalved(call: Call, { file }: Facts): boolean {
  const given = keyword(call, "dtype")?.value ?? positional(call, keyword(call, "device") ? 0 : 1);
  const type = given?.kind === "Name" ? (file.scopes.onlyValue(given) ?? given) : given;
  return (
    lastWord(call.func) === "to" &&
    type !== null &&
    /^torch\.(?:half|float16|bfloat16)$/.test(file.dotted(type) ?? "")
  );
}

/** `assert x.max() <= 1` or `torch.cuda.synchronize()` below the copies: the host waits there anyway, with nothing queued in between. */
function isReadAtOnce(call: Call): boolean {
  const statement = statementOf(call);
  const block = (statement && blockOf(statement)) ?? [];
  const sends = ({ func }: Call): boolean => /^(?:to|cuda)$/.test(lastWord(func));
  for (const next of block.slice(statement ? block.indexOf(statement) + 1 : 0)) {
    const calls: Call[] = [];
    walk(next.kind === "If" ? next.test : next, (node) => {
      if (node.kind === "Call") calls.push(node);
    });
    if (next.kind === "ExprStmt") return calls.some(({ func }) => lastWord(func) === "synchronize");
    if (next.kind === "Assert" || next.kind === "If")
      return calls.some(({ func }) => /^(?:max|min|any|all|sum|item)$/.test(lastWord(func)));
    if (next.kind !== "Assign" || !calls.every(sends)) return false;
  }
  return false;
}

/** `y = normalize(x, mean, std)` below the copies and above the network: who knows what that copies, and waits for. */
function isHandedToHelper(call: Call, facts: Facts): boolean {
  const statement = statementOf(call);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  const block = (statement && blockOf(statement)) ?? [];
  if (target?.kind !== "Name") return false;
  for (const next of block.slice(block.indexOf(statement!) + 1)) {
    if (next.kind !== "Assign" || next.value.kind !== "Call") return false;
    const { func, args } = next.value;
    if (func.kind === "Attribute" && /^(?:to|cuda)$/.test(func.attr)) continue;
    return (
      func.kind === "Name" &&
      !isNetwork(func, facts) &&
      !facts.networks.isLoss(func) &&
      args.length > 1 &&
      /norm|preprocess|augment|transform/i.test(func.id) &&
      !(facts.file.dotted(func) ?? "").startsWith("torch.")
    );
  }
  return false;
}

/** `x, y = send(batch, device)`, and `send` stands in another file. */
function* elsewhere(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of facts.callsTo("copies")) {
    const callee = facts.callee(call);
    if (!callee?.copies || callTarget(call, file)?.startsWith(`${file.module}.`)) continue;
    const shift = callee.params[0] === "self" ? 1 : 0;
    const given = callee.params.flatMap((param, at) =>
      callee.copies!.includes(param)
        ? (keyword(call, param)?.value ?? positional(call, at - shift) ?? [])
        : [],
    );
    const isLooped = loopsAround(call).length > 0;
    const handed = given.some((one) =>
      isLooped ? isPinnedBatch(one, facts, mayBePinned) : isGivenUnseen(one, facts),
    );
    if (handed)
      yield {
        at: call,
        ...(isLooped && facts.everyStep(call) && file.mentions("pin_memory")
          ? {}
          : { severity: "note" as const }),
        message:
          "The loader pins its batches, yet this copies them and the host waits; with `non_blocking=True` in there it goes on and the copy overlaps",
      };
  }
}

/**
 * A part of the batch that a method or an inner function is given, `def parse_batch(self, batch)`, and that none of this file
 * calls: whoever does so, in a program whose loaders pin, hands in what they gave.
 */
function isGivenUnseen(moved: Expr, facts: Facts): boolean {
  const fn = functionOf(moved);
  if (!facts.pins || facts.project.options.get("pin_memory") === false) return false;
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind === "Module" || !takesBatch(fn)) return false;
  const cls = classOf(fn);
  // Frameworks hand their modules what is on the device, and a data set has no batches yet.
  if (cls && /^(?:lightning|trainer|dataset|callback)$/.test(facts.role(cls))) return false;
  const param = paramBehind(moved, fn, facts.file);
  return (
    param !== null &&
    (BATCH.test(param) || TAKES_BATCH.test(fn.name)) &&
    callsOf(fn, facts.file).length === 0 &&
    !isGraph(moved, facts)
  );
}

/** Not of an evaluation, whose loader is another. */
function takesBatch({ name }: FunctionDef): boolean {
  return !/eval|val(?:id|_|$)|test|infer|predict|generat|sampl|collate|forward|__/i.test(name);
}

const BATCH = /^(?:mini_?)?batch(?:_data|_dict|ed)?$|^data_batch$/;

const TAKES_BATCH = /^_?(?:pre_?process|prepare|parse|unpack|move|send)(?:_(?:batch|func|fn|data|inputs?))?$/;

/** Whether what is iterated hands out pinned batches. */
type Pins = (iter: Expr, facts: Facts) => boolean;

/** In a loop over a pinned loader, or in a function that such a loop hands its batch to. */
function isFromPinned(call: Call & { func: Expr }, facts: Facts, pins: Pins): boolean {
  if (call.func.kind !== "Attribute") return false;
  // `x.pin_memory().to(device)`
  const { value } = call.func;
  if (
    value.kind === "Call" &&
    value.func.kind === "Attribute" &&
    value.func.attr === "pin_memory" &&
    (facts.hot(call) !== null || isDrawn(call))
  )
    return true;
  const around = functionOf(call);
  // `map(lambda t: t.to(device), batch)`, `tree_map(lambda t: t.to(device), batch)`
  if (around?.kind === "Lambda") {
    const map = around.parent?.kind === "Arg" ? around.parent.parent : null;
    return (
      map?.kind === "Call" &&
      loopsAround(map).length > 0 &&
      map.args.length > 1 &&
      around.params.some(({ name }) => value.kind === "Name" && value.id === name) &&
      map.args.every(({ value: one }) => one === around || isPinnedBatch(one, facts, pins))
    );
  }
  if (isPicked(value, facts) || isGraph(value, facts)) return false;
  const [loop] = loopsAround(call);
  if (loop) {
    const source = batchSource(call.func.value, facts);
    // `if torch.is_tensor(part):`, of which it is not told how often it holds.
    const often = facts.frequency(call, loop);
    return (
      source !== null &&
      pins(source, facts) &&
      (often === "every" || (often === "unknown" && pins === mayBePinned))
    );
  }
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef") return false;
  const param = paramBehind(call.func.value, fn, facts.file);
  if (param !== null)
    return callsOf(fn, facts.file).some((site) => isHandedBatch(site, param, fn, facts, pins));
  const source = batchSource(call.func.value, facts);
  if (source?.kind === "Name") return isTakenFromGiven(source, fn, facts, pins);
  // `self.batch = self.batch.cuda()` where `self.batch = next(self.loader)`: each call takes one.
  return (
    source !== null && fn.parent?.kind === "ClassDef" && selfAttribute(source) !== null && pins(source, facts)
  );
}

/** `x, y = next(batches)` of an iterator that a function is handed, on every turn of a loop. */
function isTakenFromGiven(batches: Name, fn: FunctionDef, facts: Facts, pins: Pins): boolean {
  const { file } = facts;
  if (!file.scopes.reaching(batches).some(({ how }) => how === "param")) return false;
  const isEachTurn = (site: Call): boolean => {
    const [loop] = loopsAround(site);
    return loop !== undefined && facts.frequency(site, loop) === "every";
  };
  if (!callsOf(fn, file).some(isEachTurn)) return false;
  const begun = madeBefore(batches, file) ?? [];
  return begun.length > 0 && begun.every((one) => pins(one, facts));
}

/** `x[order].to(device)` with another tensor of the batch: what is picked out is new, and not pinned. */
function isPicked(expr: Expr, facts: Facts): boolean {
  return (
    expr.kind === "Subscript" &&
    expr.index.kind === "Name" &&
    facts.file.scopes
      .reaching(expr.index)
      .some(
        ({ how, value }) => how === "iterate" && value?.parent?.kind === "For" && mayBePinned(value, facts),
      )
  );
}

/** A graph of DGL's, which a loader cannot pin. */
function isGraph(expr: Expr, { file }: Facts): boolean {
  let root = expr;
  while (root.kind === "Subscript" || root.kind === "Attribute") root = root.value;
  if (root.kind !== "Name" || !file.mentions("dgl")) return false;
  return file.scopes.reaching(root).some((one) =>
    file.scopes.uses(one).some((use) => {
      let at = use.parent;
      while (at?.kind === "Subscript") at = at.parent;
      return at?.kind === "Attribute" && /^(?:[ne]data|srcdata|dstdata)$/.test(at.attr);
    }),
  );
}

function isHandedBatch(site: Call, param: string, fn: FunctionDef, facts: Facts, pins: Pins): boolean {
  const shift = fn.parent?.kind === "ClassDef" && fn.params[0]?.name === "self" ? 1 : 0;
  const index = fn.params.findIndex(({ name }) => name === param) - shift;
  const passed = keyword(site, param)?.value ?? positional(site, index);
  return passed !== null && loopsAround(site).length > 0 && isPinnedBatch(passed, facts, pins);
}

/** A batch of a pinned loader, or its parts in a tuple. */
function isPinnedBatch(expr: Expr, facts: Facts, pins: Pins): boolean {
  const parts = expr.kind === "Tuple" || expr.kind === "List" ? expr.items : [expr];
  return parts.every((part) => {
    const source = batchSource(part, facts);
    return source !== null && pins(source, facts);
  });
}

/** What hands out the batch that an expression is, or is a part of: the iterable of a loop, or what `next` is called on. */
function batchSource(expr: Expr, facts: Facts, depth = 0): Expr | null {
  if (depth > 5) return null;
  const again = (inner: Expr): Expr | null => batchSource(inner, facts, depth + 1);
  const written = writtenTo(expr, facts);
  if (written.length > 0) return written.map(again).find((one) => one !== null) ?? null;
  if (expr.kind === "Subscript" || expr.kind === "Attribute") return again(expr.value);
  const taken = expr.kind === "Call" ? nextOf(expr, facts.file) : null;
  if (taken) return taken;
  // `parts = dict(images=images, labels=labels)`, of one batch.
  const parts = partsOf(expr, facts);
  if (parts.length > 0) {
    const each = parts.map(again);
    return each.every((one) => one !== null) ? each[0]! : null;
  }
  if (expr.kind !== "Name") return null;
  const sources = facts.file.scopes.reaching(expr).map((one) => {
    if (!one.value) return null;
    // `images, labels = batch[0], batch[1]`
    if (one.how === "unpack" && one.value.kind === "Tuple" && one.index !== null)
      return one.value.items[one.index] ? again(one.value.items[one.index]!) : null;
    if (one.how === "assign" || one.how === "unpack") {
      const given = one.value.kind === "Call" ? handedThrough(one.value, one.index, facts.file) : null;
      return again(given ?? one.value);
    }
    if (one.how !== "iterate") return null;
    // `for name, part in batch.items():`, but not `for loader in loaders:`
    if (one.value.parent?.kind === "For")
      return handsOutBatches(one.value, facts) ? one.value : (again(goneThrough(one.value)) ?? one.value);
    // A comprehension over the batch, or over its items.
    let found: Expr | null = one.value.kind === "Call" ? again(one.value) : null;
    walk(one.value, (node) => {
      if (node.kind === "Name") found ??= again(node);
      return found === null;
    });
    return found;
  });
  // Moved already, it is no longer the loader's.
  return sources.find((one) => one !== null) ?? null;
}

/**
 * `batch` of `x, y = self.split(batch)`, where a function of this file does no more than take the parts out: what each of its
 * returns has at that place, or all of it, is of the same parameter, and it sends nothing itself.
 */
function handedThrough(call: Call, index: number | null, file: PythonFile): Expr | null {
  const fn = file.functionNamed(callTarget(call, file));
  const returned = fn ? (file.once(returnsByName).get(file.qualified(fn)) ?? []) : [];
  if (!fn || file.callsNamed("to", "cuda").some((one) => functionOf(one) === fn)) return null;
  const [first, ...others] = returned
    .flatMap((value) => {
      const parts = value.kind === "Tuple" ? value.items : [value];
      return index === null ? parts : [value.kind === "Tuple" ? (parts[index] ?? value) : value];
    })
    .map((part) => paramBehind(part, fn, file));
  if (!first || others.some((one) => one !== first)) return null;
  const shift = fn.parent?.kind === "ClassDef" && fn.params[0]?.name === "self" ? 1 : 0;
  const at = fn.params.findIndex(({ name }) => name === first) - shift;
  return keyword(call, first)?.value ?? positional(call, at);
}

/** What a dict, a list or a tuple is written down with. */
function partsOf(expr: Expr, { file }: Facts): readonly Expr[] {
  if (expr.kind === "Dict") return expr.values;
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items;
  return expr.kind === "Call" && file.dotted(expr.func) === "builtins.dict"
    ? expr.args.flatMap(({ name, value }) => (name === null ? [] : [value]))
    : [];
}

/** What a method puts on `self`: `self.batch = next(self.loader)`. */
function writtenTo(expr: Expr, { file }: Facts): readonly Expr[] {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  return (cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : []).flatMap(({ value }) => value ?? []);
}

function handsOutBatches(iter: Expr, facts: Facts): boolean {
  return /load|_dl\b/i.test(iteratedText(iter, facts.file)) || loadersOf(iter, facts) !== null;
}

/** `batch` of `batch.items()`, `batch.keys()` and `enumerate(batch)`. */
function goneThrough(iter: Expr): Expr {
  if (iter.kind !== "Call") return iter;
  if (lastWord(iter.func) === "enumerate") return positional(iter, 0) ?? iter;
  return iter.func.kind === "Attribute" && /^(?:items|keys|values)$/.test(iter.func.attr)
    ? iter.func.value
    : iter;
}

/** `if streamed: loader = WebLoader(rows)`, `else: loader = DataLoader(rows, pin_memory=True)` */
function pinsInBranch(iter: Expr, facts: Facts): boolean {
  let over: Expr | null = iter;
  while (over?.kind === "Call") over = positional(over, 0);
  const made = over?.kind === "Name" ? facts.file.scopes.reaching(over) : [];
  return (
    made.length > 1 &&
    made.every(({ how }) => how === "assign") &&
    made.some(({ value }) => value?.kind === "Call" && pinsBatches(value, facts.file))
  );
}

/** In a buffer's `sample` or a loader's `get_batch`, which every step calls. */
function isDrawn(call: Call): boolean {
  const fn = functionOf(call);
  return fn?.kind === "FunctionDef" && /^_?(?:sample|get_batch|next_batch|draw)(?:_\w+)?$/.test(fn.name);
}

/** Every loader it may come from, as this file shows them, has `pin_memory=True`; or, made elsewhere, those of the program do. */
function isPinned(iter: Expr, facts: Facts): boolean {
  const { file } = facts;
  const loaders: readonly Call[] | null = loadersOf(iter, facts);
  if (loaders) return loaders.every((call) => pinsBatches(call, file));
  const text = iteratedText(iter, file);
  const forTraining = !/val|test|eval|dev/i.test(text);
  // `train_loader, val_loader = make_loaders(cfg)` of another file, which pins those of one of them.
  const pins = (call: Call): boolean => makesPinned(call, facts);
  if (forTraining && loadersOf(iter, facts, 0, pins)?.every(pins) === true) return true;
  if (isPinnedParam(iter, facts)) return true;
  return (facts.pins === "most" || (facts.pins === "training" && forTraining)) && isLoader(text, facts);
}

/** By what it is called, a loader of another file that hands out batches of the host. */
function isLoader(text: string, { file }: Facts): boolean {
  return (
    !file.mentions("pin_memory") &&
    /load|_dl\b/i.test(text) &&
    // What these hand out is on the device already.
    file.callsNamed("prepare", "setup_dataloaders").length === 0
  );
}

/** It pins where a setting of another file or the device says so, or in one of the branches that make it: all of that is doubt. */
function mayBePinned(iter: Expr, facts: Facts): boolean {
  if (isPinned(iter, facts)) return true;
  const loaders = loadersOf(iter, facts);
  if (loaders) return loaders.every((call) => mayPin(call, facts.file)) || pinsInBranch(iter, facts);
  // `self.batches = iter(loader)` of a class that reads ahead.
  const kept = writtenTo(iter, facts).map((one) => iteratedText(one, facts.file));
  const text = kept.length > 0 ? kept.join(" ") : iteratedText(iter, facts.file);
  return (
    facts.pins !== null &&
    !/val|test|eval|dev/i.test(text) &&
    facts.project.options.get("pin_memory") !== false &&
    isLoader(text, facts)
  );
}
