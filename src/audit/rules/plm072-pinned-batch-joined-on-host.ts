import { isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, classOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { givenFor, madeBefore } from "../facts/handed-around.ts";
import { isPinnedParam } from "../facts/handed-loaders.ts";
import { loadersOf, pinsBatches, pinsForDevice } from "../facts/loaders.ts";
import { makesPinned } from "../facts/pinned-makers.ts";
import { isKnownUnpinned, likelyBatch, likelyPins, repeatsTraining } from "../facts/likely-data.ts";
import { nextOf } from "../facts/next-batches.ts";
import type { ProjectFacts } from "../facts/project.ts";
import {
  isSentAmong,
  isSentByCallee,
  isSentByKey,
  isSentOneByOne,
  isSentWhole,
} from "../facts/sent-later.ts";
import { METHODS } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { callsOf, paramGiven, returnsByName } from "../facts/returns.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM072",
    name: "pinned-batch-joined-on-host",
    summary: "Pinned batches are joined on the host before the copy: the result is not pinned",
    severity: "warning",
    fix: "none",
    patterns: [72],
  },
  *check(facts) {
    if (!facts.anyHot && facts.file.all("Yield").length === 0) return;
    const pins = facts.file.mentions("pin_memory");
    const elsewhere =
      !pins && (facts.pins || facts.project.pinnedParams.size > 0 || pinsSomewhere(facts.project));
    if (!pins && !elsewhere && !facts.file.mentions("non_blocking") && !facts.guesses) return;
    for (const call of facts.file.callsNamed("cat", "concat", "concatenate", "stack", "hstack", "vstack")) {
      if (!/^torch\.(?:cat|concat|concatenate|stack|hstack|vstack)$/.test(facts.file.dotted(call.func) ?? ""))
        continue;
      const parts = positional(call, 0);
      if (!parts || !(isMoved(call, facts) || isMovedByCallers(call, facts))) continue;
      const loop = facts.stepLoop(call) ?? handsOn(call, facts);
      const items = itemsOf(listedAbove(parts, facts) ?? parts);
      if (facts.guesses) {
        if (facts.anyTraining && isLikelyJoined(call, items, facts)) yield { at: call, message: JOINED };
        continue;
      }
      const joins =
        loop !== null
          ? items.every((item) => isBatch(item, loop, facts)) &&
            (isCounted(loop, facts) ||
              isPinned(loop, facts) ||
              items.every((item) => item.kind === "Call" && isTaken(item, facts)))
          : isHandedBatch(call, items, facts) ||
            (items.every((item) => isTakenFromGiven(item, facts)) && facts.everyStep(call) !== null);
      // Of a network that neither trains nor loads, no more is known than that it sends its batch itself.
      if ((!pins && !elsewhere) || !joins || !facts.anyTraining) {
        if (loop && isAskedPinned(loop, facts) && items.every((item) => isBatch(item, loop, facts))) {
          yield { at: call, severity: "note", message: JOINED };
          continue;
        }
        if (!loop && facts.pins && isOfGivenBatch(items, facts) && facts.everyStep(call)) {
          yield { at: call, severity: "note", message: JOINED };
          continue;
        }
        // Whoever made the loader, in another file, this copy is waited for.
        if (
          facts.anyTraining &&
          (loop
            ? loadersOf(headOf(loop), facts) === null && items.every((item) => isBatch(item, loop, facts))
            : (items.every((item) => isHandedIn(item, facts)) ||
                items.every((item) => isTakenOntoSelf(item, facts))) &&
              facts.everyStep(call)) &&
          isUnwaited(call, facts)
        )
          yield { at: call, severity: "note", message: FRESH };
        continue;
      }
      yield {
        at: call,
        // Which of the program's loaders it is that comes in here is not seen.
        ...((pins || pinsSomewhere(facts.project)) && !items.every(isShort)
          ? {}
          : { severity: "note" as const }),
        message: JOINED,
      };
    }
  },
};

/** Parts of a batch by what they are called and where they come from, in a program in which a loader pins. */
function isLikelyJoined(call: Call, items: readonly Expr[], facts: Facts): boolean {
  const fn = functionOf(call);
  if (fn?.kind === "FunctionDef" && /collate|^__|^forward$|eval|valid|test|infer/i.test(fn.name))
    return false;
  const [loop] = loopsAround(call);
  return (
    likelyPins(facts) &&
    !isKnownUnpinned(call, facts) &&
    !items.every(isShort) &&
    items.every((item) => likelyBatch(item, facts.file)) &&
    ((loop !== undefined && repeatsTraining(loop, facts.file)) || facts.everyStep(call) !== null)
  );
}

/** A number for each example: a copy of up to a megabyte does not wait, pinned or not. */
function isShort(part: Expr): boolean {
  return /^(?:hard_)?(?:labels?|targets?|classes|ids|idx|index|indices|lengths?)(?:_\w{1,2}|\d)?$/.test(
    lastWord(part),
  );
}

const JOINED =
  "The parts are pinned, what they are joined into is not: the copy to the device goes through a staging buffer and the host waits; move the parts, then join them there";

const FRESH =
  "What is joined here on the host is not pinned, whatever its parts were: `non_blocking` does nothing for it, and the host waits for the copy; move the parts, then join them there";

/** A loader from `make_loader(paths, pin_memory=use_gpu)`, by whichever branch. */
function isAskedPinned(loop: Loop, { file }: Facts): boolean {
  let over: Expr | null = headOf(loop);
  while (over?.kind === "Call") over = positional(over, 0);
  const made = over?.kind === "Name" ? (file.scopes.lookup(over)?.definitions ?? []) : [];
  return (
    made.length > 0 &&
    made.every(({ value }) => {
      const pin = value?.kind === "Call" ? keyword(value, "pin_memory") : null;
      return pin !== null && !(pin.value.kind === "Const" && pin.value.value === false);
    })
  );
}

/** `for x, y in loader: … yield`, of what hands its batches on to a training. */
function handsOn(call: Call, { file }: Facts): Loop | null {
  const [loop] = loopsAround(call);
  return loop?.kind === "For" && file.all("Yield").some((one) => contains(loop, one)) ? loop : null;
}

function headOf(loop: Loop): Expr {
  return loop.kind === "For" ? loop.iter : loop.test;
}

/** `torch.cat(…).to(device, non_blocking=True)`, through changes of shape. */
function isUnwaited(call: Call, facts: Facts): boolean {
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  const { scopes } = facts.file;
  return (
    isSentOn(call, facts.file) ||
    (made !== null && scopes.uses(made).some((use) => isSentOn(use, facts.file)))
  );
}

function isSentOn(expr: Expr, file: PythonFile): boolean {
  for (
    let at: Expr = expr;
    at.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call";
    at = at.parent.parent
  )
    if (/^(?:to|cuda)$/.test(at.parent.attr))
      return isAsked(keyword(at.parent.parent, "non_blocking")?.value ?? null, file);
  return false;
}

/** True, or what the function does by default: `non_blocking: bool = True`. */
function isAsked(expr: Expr | null, file: PythonFile): boolean {
  if (expr?.kind !== "Name") return isTrue(expr);
  const [one, ...more] = file.scopes.reaching(expr);
  return more.length === 0 && one?.node.kind === "Param" && isTrue(one.node.default);
}

/** `batch = next(batches)` of an iterator that a step is given, or a part of it. */
function isTakenFromGiven(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isTakenFromGiven(expr.value, facts);
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  if (!one?.value || more.length > 0) return false;
  if (one.how === "unpack" && one.value.kind === "Name") return isTakenFromGiven(one.value, facts);
  const from = one.value.kind === "Call" ? nextOf(one.value, facts.file) : null;
  return (
    from?.kind === "Name" &&
    /load|iter|batch/i.test(from.id) &&
    facts.file.scopes.reaching(from).every(({ how }) => how === "param")
  );
}

/** Parts of the batch that a step is given in a program whose loaders pin: `image = data.get("image")` of `def train_step(self, data)`. */
function isOfGivenBatch(items: readonly Expr[], facts: Facts): boolean {
  const isPart = (expr: Expr, depth: number): boolean => {
    if (depth > 5) return false;
    if (expr.kind === "Subscript") return isPart(expr.value, depth + 1);
    if (expr.kind === "Call") {
      const looked = expr.func.kind === "Attribute" && expr.func.attr === "get" ? expr.func.value : null;
      const of = looked ?? hostOperand(expr, facts);
      return of !== undefined && isPart(of, depth + 1);
    }
    const made = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
    return (
      made.length > 0 &&
      made.every(({ how, name, value }) =>
        how === "param"
          ? /^(?:data|batch|samples?|minibatch)(?:_|$)|_batch$/.test(name)
          : (how === "assign" || how === "unpack") && value !== null && isPart(value, depth + 1),
      )
    );
  };
  return items.length > 0 && items.every((item) => isPart(item, 0));
}

/** A batch that a function is given, or a part of it: `image, mask = batch`. */
function isHandedIn(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isHandedIn(expr.value, facts);
  // `images.flip(-1)`
  const of = expr.kind === "Call" ? hostOperand(expr, facts) : undefined;
  if (of) return isHandedIn(of, facts);
  const definitions = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value }) =>
        how === "param" || (how === "unpack" && value?.kind === "Name" && isHandedIn(value, facts)),
    )
  );
}

/** `self.x` of `(self.x, self.y), _ = next(self.batches)`, in a class that fetches the next batch while the last one is learned from. */
function isTakenOntoSelf(expr: Expr, { file }: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  const isNext = ({ target, value }: (typeof writes)[number]): boolean => {
    const statement = statementOf(target);
    const from = value ?? (statement?.kind === "Assign" ? statement.value : null);
    return from?.kind === "Call" && nextOf(from, file) !== null;
  };
  const made = writes.filter(({ value }) => !isNone(value));
  return made.length > 0 && made.every(isNext);
}

const pinning = new WeakMap<ProjectFacts, boolean>();

/** Whether a function somewhere in the tree hands out a loader of pinned batches. */
function pinsSomewhere(project: ProjectFacts): boolean {
  let found = pinning.get(project);
  if (found === undefined)
    pinning.set(project, (found = [...project.functions.values()].some(({ pins }) => pins)));
  return found;
}

/** In a function of this file that a training loop gives what its loader handed out, `both_views(images, device)`, or that takes it itself. */
function isHandedBatch(call: Call, items: readonly Expr[], facts: Facts): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    items.every((item) => isBatch(item, null, facts)) &&
    // The evaluation may call it too.
    callsOf(fn, facts.file).some((one) => facts.stepLoop(one) !== null)
  );
}

/** What a training loop of this file gives for a parameter is its batch, or a part of it. */
function isGivenBatch({ node, name }: Definition, facts: Facts): boolean {
  const fn = node.parent;
  if (fn?.kind !== "FunctionDef") return false;
  return callsOf(fn, facts.file).some((one) => {
    const loop = facts.stepLoop(one);
    const given = loop && (isCounted(loop, facts) || isPinned(loop, facts)) ? givenFor(name, fn, one) : null;
    return given !== null && isBatch(given, loop, facts);
  });
}

/** `return torch.cat(views)`, also by a name, alone or as one of several, and whoever calls that sends it on. */
function isMovedByCallers(call: Call, facts: Facts): boolean {
  const { scopes } = facts.file;
  // `x = torch.cat(views)`, and `return x, y` below.
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  const handedBack = [call, ...(made ? scopes.uses(made) : [])].find(
    (one) => (one.parent?.kind === "Tuple" ? one.parent : one).parent?.kind === "Return",
  );
  const fn = handedBack ? functionOf(call) : null;
  const calls = fn?.kind === "FunctionDef" ? callsOf(fn, facts.file) : [];
  const at = handedBack?.parent?.kind === "Tuple" ? handedBack.parent.items.indexOf(handedBack) : null;
  return calls.length > 0 && calls.every((one) => isMoved(one, facts, at));
}

/** `views = [x, x.flip(-1)]`, and to be joined is all that is done with it. */
function listedAbove(parts: Expr, { file }: Facts): Expr | null {
  const [made, ...more] = parts.kind === "Name" ? file.scopes.reaching(parts) : [];
  const listed = made?.value?.kind === "List" || made?.value?.kind === "Tuple" ? made.value : null;
  return listed &&
    made!.how === "assign" &&
    more.length === 0 &&
    listed.items.length > 0 &&
    file.scopes.uses(made!).length === 1
    ? listed
    : null;
}

/** `[x] + [torch.rot90(x, k) for k in (1, 2, 3)]` too. */
function itemsOf(parts: Expr): readonly Expr[] {
  if (parts.kind === "Binary" && parts.op === "+") return [...itemsOf(parts.left), ...itemsOf(parts.right)];
  return parts.kind === "List" || parts.kind === "Tuple" ? parts.items : [parts];
}

/** Sent to the device as it is, or through the name it is given; of what returns several, the one at `index`. */
function isMoved(call: Call, facts: Facts, index: number | null = null): boolean {
  const moves = (expr: Expr): boolean => {
    const attribute = expr.parent;
    if (attribute?.kind !== "Attribute" || attribute.value !== expr || attribute.parent?.kind !== "Call")
      return false;
    const { attr, parent: asked } = attribute;
    if (attr === "cuda") return true;
    // `x.type(torch.cuda.FloatTensor)`
    const type = attr === "type" ? positional(asked, 0) : null;
    if (type && facts.file.dotted(type)?.startsWith("torch.cuda.") === true) return true;
    if (attr !== "to") return METHODS.has(attr) && moves(asked);
    const device = facts.device(keyword(asked, "device")?.value ?? positional(asked, 0));
    // A copy of a batch that nobody is to wait for goes to the device, whatever its name is made of: `f"{kind}:{rank}"`.
    return (
      facts.isAccelerator(device) ||
      (device !== "cpu" && isTrue(keyword(asked, "non_blocking")?.value ?? null))
    );
  };
  // `torch.stack(…).flatten(0, 1).to(device)`
  let last: Expr = call;
  while (
    last.parent?.kind === "Attribute" &&
    METHODS.has(last.parent.attr) &&
    last.parent.parent?.kind === "Call" &&
    last.parent.parent.func === last.parent
  )
    last = last.parent.parent;
  // `interleave(torch.cat(views), 2).to(device)`
  const outer = last.parent?.kind === "Arg" ? last.parent.parent : null;
  if (outer?.kind === "Call" && handsBackShaped(outer, last, facts) && isMoved(outer, facts)) return true;
  const sent = (one: Expr): boolean =>
    moves(one) || isSentAmong(one, facts) || isSentByCallee(one, moves, facts);
  if (sent(last)) return true;
  // `x, y = torch.cat(…), torch.cat(…)`
  const several = last.parent?.kind === "Tuple" ? last.parent : null;
  const statement = several ? several.parent : last.parent;
  const [left] =
    statement?.kind === "Assign" && statement.value === (several ?? last) ? statement.targets : [];
  const at = several ? several.items.indexOf(last) : index;
  const target = at === null ? left : left?.kind === "Tuple" ? left.items[at] : null;
  if (isSentOneByOne(last, moves, facts)) return true;
  if (target?.kind === "Subscript" && target.value.kind === "Name")
    return (
      isSentWhole(target.value, statement!, facts) || isSentByKey(target.value, statement!, moves, facts)
    );
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  return made !== null && facts.file.scopes.uses(made).some(sent);
}

/** A function of this file that does nothing but put what it is given here into another shape. */
function handsBackShaped(outer: Call, given: Expr, { file }: Facts): boolean {
  const arg = outer.args.find(({ value }) => value === given);
  const param = arg ? paramGiven(outer, arg, file) : null;
  const one = param && file.scopes.definitionAt(param);
  const returned = file.once(returnsByName).get(file.dotted(outer.func) ?? "") ?? [];
  return (
    !!one &&
    returned.length > 0 &&
    returned.every((value) => {
      let at = value;
      while (at.kind === "Call" && at.func.kind === "Attribute" && METHODS.has(at.func.attr))
        at = at.func.value;
      return at.kind === "Name" && file.scopes.reaching(at).every((made) => made === one);
    })
  );
}

/** What a function or method of torch's computes from. */
function hostOperand({ func, args }: Call, { file }: Facts): Expr | undefined {
  const name = file.dotted(func);
  if (name?.startsWith("torch.") === true || /^builtins\.(?:list|tuple)$/.test(name ?? ""))
    return args[0]?.value;
  // `list(batch["channels"].values())`
  if (func.kind === "Attribute" && func.attr === "values" && args.length === 0) return func.value;
  return func.kind === "Attribute" && name === null && METHODS.has(func.attr) ? func.value : undefined;
}

/** What the loop hands out, as it is: not yet moved or computed with. Without one, what a function is given by a loop, or takes. */
function isBatch(expr: Expr, loop: Loop | null, facts: Facts): boolean {
  if (expr.kind === "Subscript") return isBatch(expr.value, loop, facts);
  // Computed from it on the host: `images.flip(-1)`.
  if (expr.kind === "Call") {
    const of = hostOperand(expr, facts);
    return isTaken(expr, facts) || (of !== undefined && isBatch(of, loop, facts));
  }
  // `[b["image"] for b in (weak, strong)]`
  if (expr.kind === "Comp")
    return (
      expr.value === null &&
      expr.clauses.length === 1 &&
      (isBatch(expr.element, loop, facts) ||
        (expr.clauses[0]!.iter.kind === "Tuple" || expr.clauses[0]!.iter.kind === "List"
          ? expr.clauses[0]!.iter.items
          : [expr.clauses[0]!.iter]
        ).every((item) => isBatch(item, loop, facts)))
    );
  // `-images`, `1 - images`
  if (expr.kind === "Unary") return isBatch(expr.operand, loop, facts);
  if (expr.kind === "Binary") {
    const [left, right] = [isBatch(expr.left, loop, facts), isBatch(expr.right, loop, facts)];
    return (left && (right || expr.right.kind === "Num")) || (right && expr.left.kind === "Num");
  }
  if (expr.kind !== "Name") return false;
  const isFrom = (one: Definition): boolean => {
    const { how, node, value, index } = one;
    if (how === "iterate") {
      // `[torch.cat([part, -part]) for part in batch]`
      const target = node.parent?.kind === "Tuple" ? node.parent : node;
      const over = target.parent;
      const clause = over?.kind === "Clause" || (over?.kind === "For" && over !== loop) ? over : null;
      // `[image for image, text in zip(images, texts) if text]`
      const zipped =
        clause?.iter.kind === "Call" &&
        facts.file.dotted(clause.iter.func) === "builtins.zip" &&
        index !== null
          ? clause.iter.args[index]?.value
          : undefined;
      if (zipped) return isBatch(zipped, loop, facts);
      // `[torch.cat(views) for views in (crops[:2], crops[2:])]`
      if (clause?.iter.kind === "Tuple" || clause?.iter.kind === "List")
        return clause.iter.items.every((item) => isBatch(item, loop, facts));
      // `{k: torch.cat([v, v]) for k, v in batch.items()}`
      const asked = clause?.iter.kind === "Call" && clause.iter.args.length === 0 ? clause.iter.func : null;
      const each =
        asked?.kind === "Attribute" && asked.attr === (index === null ? "values" : index === 1 ? "items" : "")
          ? asked.value
          : clause?.iter;
      if (each) return each.kind === "Name" && isBatch(each, loop, facts);
      return loop?.kind === "For" && contains(loop.target, node) && !isCounted(loop, facts);
    }
    if (how === "param") return loop === null && isGivenBatch(one, facts);
    // `waiting = []`, and `waiting.append(images)` until there are enough.
    if (how === "assign" && value?.kind === "List" && value.items.length === 0)
      return facts.file
        .callsNamed("append")
        .some(
          ({ func, args }) =>
            func.kind === "Attribute" &&
            func.value.kind === "Name" &&
            func.value.id === expr.id &&
            loop !== null &&
            contains(loop, func) &&
            args[0] !== undefined &&
            args[0].value.kind === "Name" &&
            args[0].value.id !== expr.id &&
            isBatch(args[0].value, loop, facts),
        );
    // `parts = [next(batches) for _ in range(n)]`
    if (how === "assign" && value?.kind === "Comp")
      return value.value === null && isBatch(value.element, loop, facts);
    if (value?.kind === "Call") {
      // `x = x.view(n, -1)`
      const of = how === "assign" ? hostOperand(value, facts) : undefined;
      return isTaken(value, facts) || (of !== undefined && of !== expr && isBatch(of, loop, facts));
    }
    return (
      (how === "unpack" || how === "assign") &&
      value !== null &&
      (value.kind === "Name" || value.kind === "Subscript") &&
      isBatch(value, loop, facts)
    );
  };
  const definitions = facts.file.scopes.reaching(expr);
  // A comprehension sees every definition of a name around it, also those that come later.
  if (expr.scope?.kind !== "Comp") return definitions.length > 0 && definitions.every(isFrom);
  // What its own block gave it last is what it is.
  const statement = statementOf(expr);
  const block = (statement && blockOf(statement)) ?? [];
  const last = definitions.findLast(
    ({ how, node }) =>
      how === "assign" && node.end < statement!.start && block.includes(statementOf(node) as never),
  );
  return last ? isFrom(last) : definitions.some(isFrom);
}

/** `for step in range(n):`, `while True:`, where batches are taken by `next`. */
function isCounted(loop: Loop, { file }: Facts): boolean {
  const counts = (expr: Expr | null | undefined): boolean => {
    // `bar = tqdm(range(n)) if rank == 0 else range(n)`, also by two statements.
    if (expr?.kind === "Name") {
      const made = file.scopes.reaching(expr);
      return made.length > 0 && made.every(({ how, value }) => how === "assign" && counts(value));
    }
    if (expr?.kind === "IfExp") return counts(expr.body) && counts(expr.orelse);
    if (expr?.kind !== "Call") return false;
    const name = file.dotted(expr.func) ?? "";
    return (
      name === "builtins.range" ||
      /(?:^|\.)trange$/.test(name) ||
      (/(?:^|\.)tqdm(?:\.|$)/.test(name) && counts(positional(expr, 0)))
    );
  };
  return loop.kind === "While" || counts(loop.iter);
}

/** `next(it)` of an iterator over a pinned loader. */
function isTaken(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const it = nextOf(call, file);
  if (!it) return false;
  const goesOver = (value: Expr | null): boolean => {
    // `self.batches = make_loader(args)` of another file, which hands out an iterator.
    if (value?.kind === "Call" && facts.callee(value)?.pins === true) return true;
    const over = value?.kind === "Call" && begins(value, facts) ? positional(value, 0) : null;
    return over !== null && over !== undefined && arePinned(over, facts);
  };
  if (it.kind !== "Name") return isKeptFrom(it, goesOver, file);
  const definitions = file.scopes.reaching(it);
  if (definitions.length > 0 && definitions.every(({ how, value }) => how === "assign" && goesOver(value)))
    return true;
  // In a function that is handed it, and may hand it back for the next turn.
  const made = madeBefore(it, file) ?? [];
  return made.length > 0 && made.every(goesOver);
}

/** `self.batches = None`, or `self.loaders = {}`, until it is made. */
function isKeptFrom(expr: Expr, holds: (made: Expr) => boolean, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const made = (cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : []).filter(
    ({ value }) => value?.kind !== "Const" && !(value?.kind === "Dict" && value.values.length === 0),
  );
  return made.length > 0 && made.every(({ value }) => value !== null && holds(value));
}

/** `iter(loader)`, or a generator of this file, or of another one of the tree, that goes through it again and again. */
function begins(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = file.dotted(call.func) ?? "";
  if (/^(?:builtins\.iter|itertools\.cycle)$/.test(name)) return true;
  if (!/(?:^|\.|_)(?:cycle|infinite|endless|repeat|inf)(?!\w*(?:device|cuda|gpu))\w*$/.test(name))
    return false;
  const fn = file.functionNamed(name);
  // What another file's sends to the device has come off the host.
  const callee = fn ? null : facts.callee(call);
  return fn
    ? file.all("Yield").some((one) => functionOf(one) === fn)
    : callee !== null && callee.copies === null;
}

/** One is enough: that one's batches are pinned in vain. */
function arePinned(iterated: Expr, facts: Facts): boolean {
  const pins = (call: Call): boolean => makesPinned(call, facts);
  return (
    loadersOf(iterated, facts, 0, pins)?.some(
      (call) => pinsBatches(call, facts.file) || pinsForDevice(call, facts.file) || pins(call),
    ) === true || isPinnedParam(iterated, facts)
  );
}

/** A loader that a method is given by whoever uses the class, in a program whose loaders pin. */
function isHandedLoader(iterated: Expr, facts: Facts): boolean {
  if (!facts.pins || loadersOf(iterated, facts) !== null) return false;
  // `zip(labelled_loader, unlabelled_loader)`: one is enough.
  if (iterated.kind === "Call")
    return (
      facts.file.dotted(iterated.func) === "builtins.zip" ? iterated.args : iterated.args.slice(0, 1)
    ).some(({ name, value }) => name === null && isHandedLoader(value, facts));
  // `self.loaders["train"]`
  const over = iterated.kind === "Subscript" ? iterated.value : iterated;
  // A part of a payload is no loader.
  const called = over === iterated ? /load|(?:^|_)dl$/i : /loaders?(?:_|$)|(?:^|_)dls?$/i;
  if (!called.test(lastWord(over))) return false;
  return over.kind === "Name"
    ? facts.file.scopes.reaching(over).every(({ how }) => how === "param")
    : isKeptFrom(
        over,
        (made) =>
          made.kind === "Name" && facts.file.scopes.reaching(made).every(({ how }) => how === "param"),
        facts.file,
      );
}

function isPinned(loop: Loop, facts: Facts): boolean {
  if (loop.kind !== "For") return false;
  let host = true;
  walk(loop.iter, (node) => {
    if (node.kind === "Attribute" && node.attr === "prepare") host = false;
  });
  return host && (arePinned(loop.iter, facts) || isHandedLoader(loop.iter, facts));
}
