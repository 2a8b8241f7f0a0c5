import { argument, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef, Name, Node, Subscript } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "../facts/classes.ts";
import { isExplained } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { isWrittenInto } from "../facts/invariants.ts";
import { isLikelyNeedless, isOffByDefault } from "../facts/needless-copies.ts";
import { isNetwork, networkCall } from "../facts/networks.ts";
import { callsOf, returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import type { Finding, Rule } from "../rule.ts";
import {
  COMPUTING,
  handedOn,
  isChangedLater,
  isFresh,
  isOneOf,
  isSourceWritten,
  isUnread,
} from "../facts/fresh-results.ts";
import { isReadPart } from "../facts/read-parts.ts";
import { isOneOfUnrecorded } from "../facts/unrecorded-results.ts";

export const rule: Rule = {
  meta: {
    code: "PLM081",
    name: "fresh-result-cloned",
    summary: "`clone()` of a result that nobody else holds",
    severity: "note",
    fix: "unsafe",
    patterns: [81],
  },
  *check(facts) {
    yield* convertedWide(facts);
    yield* pairedWide(facts);
    if (facts.file.callsNamed("clone", "contiguous").length === 0) return;
    for (const call of facts.file.callsNamed("clone", "contiguous")) {
      if (call.func.kind !== "Attribute") continue;
      // `torch.clone(x)`
      const named = facts.file.dotted(call.func) === "torch.clone" && call.args.length === 1;
      if ((call.args.length > 0 && !named) || !facts.hot(call)) continue;
      const { attr } = call.func;
      const value = named ? call.args[0]!.value : call.func.value;
      // `expand(…).contiguous()` writes out what arithmetic would broadcast.
      const written =
        /^(?:clone|contiguous)$/.test(attr) &&
        isExpanded(value, facts.file) &&
        (isReadByCallers(call, facts) || (!isChangedLater(call, facts) && !isReshaped(call, facts)));
      const fresh =
        attr === "clone" &&
        (isFresh(value, facts) ||
          (value.kind === "Call" && isNetwork(value.func, facts)) ||
          (isOfMethod(value, facts) && !isChangedLater(call, facts)) ||
          isOnlyUse(value, facts) ||
          isOneOfUnrecorded(value, facts) ||
          (isPartReadOnce(value, facts) && !isWrittenByName(call, facts)));
      const unread =
        attr === "clone" &&
        !isSourceWritten(call, value, facts) &&
        (isKeptSkip(call, value, facts) ||
          isReadPart(call, value, facts) ||
          ((isOutput(reshapedFrom(value), facts) ||
            isDetached(value, facts) ||
            isShifted(value, facts) ||
            isUnwrittenInput(value, facts)) &&
            !isChangedLater(call, facts)));
      const run =
        attr === "clone" &&
        !fresh &&
        !unread &&
        !isSourceWritten(call, value, facts) &&
        isOnlyRun(call, value, facts);
      const forNobody = attr === "clone" && !fresh && !unread && !run && isUnread(call, facts.file);
      const likely = facts.guesses && attr === "clone" && isLikelyNeedless(call, value, facts);
      if (!written && !fresh && !unread && !run && !forNobody && !likely) continue;
      if (facts.guesses && isOffByDefault(call, facts.file)) continue;
      if (facts.file.once(capturesGraphs)) return;
      yield {
        at: call,
        message: written
          ? "Every copy is written out; the expanded view gives the same values, and arithmetic broadcasts by itself"
          : fresh
            ? "The result is new and nobody else holds it: the clone is a second copy of it, made and then thrown away"
            : run
              ? "A network is given this copy, and only reads it unless its first layer works in place: it holds the same numbers a second time"
              : forNobody
                ? "Nobody reads this copy"
                : "Nothing writes into this copy: it holds the same numbers a second time",
        fix: {
          grade: "unsafe",
          title: "Remove the copy",
          edits: isExplained(call, REASONS, facts.file)
            ? []
            : named
              ? [
                  { start: call.start, end: value.start, text: "(" },
                  { start: value.end, end: call.end, text: ")" },
                ]
              : [{ start: facts.file.text.lastIndexOf(".", call.func.attrStart), end: call.end, text: "" }],
        },
      };
    }
  },
};

/** `x.clone()  # clone for pt1.9` */
const REASONS = /clone|copy|contiguous|in-?place/i;

/** `mask.unsqueeze(-1).expand_as(x).float() * x`: every copy is converted, where one would be and then broadcast. */
function* convertedWide(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("float", "half", "bfloat16", "to", "type", "type_as")) {
    if (call.func.kind !== "Attribute" || facts.file.dotted(call.func) !== null) continue;
    const { value } = call.func;
    if (
      value.kind === "Call" &&
      isExpanded(value, facts.file) &&
      isOfTruths(value, facts.file) &&
      isToFloat(call, facts.file) &&
      facts.hot(call) &&
      placesOf(call, facts.file).some(isOperand) &&
      !isReshaped(call, facts) &&
      !placesOf(call, facts.file).some((use) => isWrittenInto(use as Expr))
    )
      yield {
        at: call,
        message:
          "The expanded view is written out in its new type, every copy of it; converted before it is expanded, it stays a view",
      };
  }
}

/**
 * `rows * columns` of `rows = z.unsqueeze(1).expand(n, n, -1).reshape(n * n, -1)` and the like: of each pair both are written out,
 * where the views would be multiplied as they are, and what comes of it put into that shape.
 */
function* pairedWide(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("reshape", "flatten")) {
    const { func } = call;
    if (func.kind !== "Attribute" || func.value.kind !== "Call" || !isExpanded(func.value, file)) continue;
    const places = placesOf(call, file);
    const isPaired = (place: Node): boolean =>
      place.parent?.kind === "Binary" &&
      isOperand(place) &&
      isFlattened(place.parent.left === place ? place.parent.right : place.parent.left, file);
    if (places.every(isPaired) && facts.hot(call))
      yield {
        at: call,
        message:
          "Of every pair both are written out by this; computed from the expanded views, and put into this shape after, neither is",
      };
  }
}

/** An expanded view that another shape made a copy of, also by name. */
function isFlattened(expr: Expr, file: PythonFile): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  return (
    made?.kind === "Call" &&
    made.func.kind === "Attribute" &&
    /^(?:reshape|flatten)$/.test(made.func.attr) &&
    isExpanded(made.func.value, file)
  );
}

/** Of a mask, by its name or as it is made: what is of the type already would not be copied. */
const isOfTruths = ({ func }: Call, file: PythonFile): boolean =>
  func.kind === "Attribute" && /mask|valid|[<>~]|[!=]=/.test(file.textOf(func.value));

function isToFloat(call: Call, file: PythonFile): boolean {
  const word = (call.func as Attribute).attr;
  if (!/^(?:to|type)$/.test(word))
    return word === "type_as" ? call.args.length === 1 : call.args.length === 0;
  const type = argument(call, "dtype", 0);
  return (
    type !== null && /^torch\.(?:b?float\d*|half)$|\.dtype$/.test(file.dotted(type) ?? file.textOf(type))
  );
}

/** `back = decode(made.clone())`: what one network made goes into another as a copy, and nothing writes into either. */
function isOnlyRun(call: Call, value: Expr, facts: Facts): boolean {
  const { file } = facts;
  const made =
    value.kind === "Call" && value.func.kind === "Attribute" && value.func.attr === "detach"
      ? value.func.value
      : value;
  if (made.kind !== "Name" && selfAttribute(made) === null) return false;
  // `net(fake.clone().detach())`
  const cut =
    call.parent?.kind === "Attribute" && call.parent.attr === "detach" && call.parent.parent?.kind === "Call"
      ? call.parent.parent
      : null;
  return (
    (isMadeByNetwork(made, facts) ||
      ((cut !== null || made !== value) && isHandedIn(made, facts)) ||
      isOfBatch(made, facts)) &&
    placesOf(cut ?? call, file).every((place) => isRunOn(place, facts)) &&
    !isWrittenAnywhere(file.textOf(made), file) &&
    !file.once(beginsInPlace)
  );
}

/** `images` of `images = images.to(device)` or `batch["image"].to(device)`, in the loop that hands out the batches: a copy of its own already. */
function isOfBatch(expr: Expr, facts: Facts): boolean {
  const [made, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  const { value, node } = made ?? {};
  const moved = value?.kind === "Tuple" && node ? value.items[made!.index ?? -1] : value;
  return (
    more.length === 0 &&
    facts.stepLoop(expr) !== null &&
    moved?.kind === "Call" &&
    moved.func.kind === "Attribute" &&
    /^(?:to|cuda)$/.test(moved.func.attr) &&
    (moved.func.value.kind === "Name" ||
      (moved.func.value.kind === "Subscript" && moved.func.value.index.kind === "Str")) &&
    facts.onAccelerator(expr)
  );
}

/** `def judge(self, net, real, fake):`, where a copy without its graph is run: what came in is somebody else's output. */
function isHandedIn(expr: Expr, { file }: Facts): boolean {
  const made = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return made.length === 1 && made[0]!.how === "param" && nameOf(functionOf(expr)) !== "forward";
}

const nameOf = (fn: Node | null): string => (fn?.kind === "FunctionDef" ? fn.name : "");

/** Under its name, or by the attribute that only what networks made is written to: `self.fake = self.generator(x)`. */
function isMadeByNetwork(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  if (own === null) return networkCall(expr, facts) !== null;
  const cls = classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
  return (
    writes.length > 0 && writes.every(({ value }) => value?.kind === "Call" && isNetwork(value.func, facts))
  );
}

/** Where a value is used: as it is, or by the name that it gets. */
function placesOf(call: Call, { scopes }: PythonFile): readonly Node[] {
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : undefined;
  const named = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  const uses = named ? scopes.uses(named) : [];
  return uses.length > 0 ? uses : [call];
}

/** `net(x)`, of a network that is no single layer: one may be `nn.ReLU(inplace=True)`. */
function isRunOn({ parent }: Node, facts: Facts): boolean {
  const run = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
  return (
    run?.kind === "Call" &&
    isNetwork(run.func, facts) &&
    !isOnlyMadeBy(run.func, facts.file, (made) =>
      /^torch\.nn\.[A-Z]/.test(facts.file.dotted(made.func) ?? ""),
    )
  );
}

/** `self.made[0] = 1`, `self.made += 1`, `self.made.clamp_(0, 1)`, anywhere in the file. */
function isWrittenAnywhere(text: string, file: PythonFile): boolean {
  const isIt = (expr: Expr): boolean =>
    file.textOf(expr) === text ||
    (expr.kind === "Subscript" && isIt(expr.value)) ||
    (expr.kind === "Call" && expr.func.kind === "Attribute" && isIt(expr.func.value));
  return (
    file.all("AugAssign").some(({ target }) => isIt(target)) ||
    file
      .all("Assign")
      .some(({ targets }) => targets.some((target) => target.kind === "Subscript" && isIt(target))) ||
    file
      .all("Call")
      .some(({ func }) => func.kind === "Attribute" && /[^_]_$/.test(func.attr) && isIt(func.value))
  );
}

/** Graphs that are replayed write into the same results each time: a copy is needed then. */
function capturesGraphs(file: PythonFile): boolean {
  return file.says(/reduce-overhead|max-autotune|cudagraph/i);
}

/** `x.expand(n, -1)`, `torch.broadcast_to(x, size)`, also under a name. */
function isExpanded(expr: Expr, { scopes }: PythonFile): boolean {
  const made = (expr.kind === "Name" ? scopes.onlyValue(expr) : null) ?? expr;
  return (
    made.kind === "Call" &&
    made.func.kind === "Attribute" &&
    /^(?:expand|expand_as|broadcast_to)$/.test(made.func.attr)
  );
}

/**
 * `return x.view(-1, 1, 1).expand(shape).clone()` of a helper, `at(t, x.shape) * x`: those who call it here compute with it, and
 * none writes into it or views it in another shape.
 */
function isReadByCallers(call: Call, facts: Facts): boolean {
  const fn = call.parent?.kind === "Return" ? functionOf(call) : null;
  const calls = fn?.kind === "FunctionDef" && fn.name !== "forward" ? callsOf(fn, facts.file) : [];
  return (
    calls.some((one) => placesOf(one, facts.file).some(isOperand)) &&
    calls.every(
      (one) =>
        !isReshaped(one, facts) && !placesOf(one, facts.file).some((use) => isWrittenInto(use as Expr)),
    )
  );
}

const isOperand = ({ parent }: Node): boolean => parent?.kind === "Binary" && /^[-+*/]$/.test(parent.op);

/** What the network of this step returned, under its name. */
function isOutput(expr: Expr, facts: Facts): boolean {
  return (
    (expr.kind === "Name" ||
      expr.kind === "Attribute" ||
      // A part under its name; a slice is copied so that the rest can go.
      (expr.kind === "Subscript" && (expr.index.kind === "Str" || isItem(expr))) ||
      (expr.kind === "Call" && isNetwork(expr.func, facts))) &&
    (networkCall(expr, facts) !== null || isHandedBack(expr, facts))
  );
}

/** `scores` of `scores.view(-1, n)`: all of it, in another shape. */
function reshapedFrom(expr: Expr): Expr {
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:view|reshape|flatten)$/.test(expr.func.attr)
    ? expr.func.value
    : expr;
}

/** `logits[:, :-1, :]`, of which all but an edge is kept: nothing that could go. */
function isShifted(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (expr.kind !== "Subscript" || expr.index.kind !== "Tuple" || !file.textOf(expr.value).endsWith("logits"))
    return false;
  return expr.index.items.every(
    (item) => /^(?:1?:|:-1|\.\.\.)$/.test(file.textOf(item).replace(/\s/g, "")) || isTrim(item, file),
  );
}

/** `:length`, where `length = min(mask.size(-1), codes.size(-1))`: as long as both are, but for an edge. */
function isTrim(item: Expr, file: PythonFile): boolean {
  if (item.kind !== "Slice" || item.lower || item.step || !item.upper) return false;
  const length = (item.upper.kind === "Name" ? file.scopes.onlyValue(item.upper) : null) ?? item.upper;
  return length.kind === "Call" && file.dotted(length.func) === "builtins.min" && length.args.length > 1;
}

/** `residual = x.clone()` of what a forward is given, and goes on with in layers that write into nothing. */
function isUnwrittenInput(expr: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const [made, ...more] = expr.kind === "Name" ? scopes.reaching(expr) : [];
  const fn = made?.node.parent;
  if (made?.how !== "param" || more.length > 0 || fn?.kind !== "FunctionDef" || fn.name !== "forward")
    return false;
  return scopes.uses(made).every((use) => {
    const at = use.parent;
    if (use === expr || at?.kind === "Binary" || (at?.kind === "AugAssign" && at.value === use)) return true;
    if (at?.kind === "Attribute") return /^(?:shape|size|dtype|device|dim|ndim|mean|view)$/.test(at.attr);
    return at?.kind === "Arg" && at.parent?.kind === "Call" && isReadingLayer(at.parent.func, facts);
  });
}

/**
 * A layer that computes, or several of which the first one does: `nn.Sequential(nn.Conv2d(…), nn.ReLU(inplace=True))`, or
 * `conv3x3(width, width)` of this file. What a block is given as its `downsample` begins with a convolution as well.
 */
function isReadingLayer(expr: Expr, { file }: Facts): boolean {
  return isOnlyMadeBy(expr, file, (made) => beginsComputing(made, file)) || isGivenShortcut(expr, file);
}

function beginsComputing(made: Expr | undefined, file: PythonFile, depth = 0): boolean {
  if (made?.kind !== "Call" || depth > 3) return false;
  const name = file.dotted(made.func) ?? "";
  if (name === "torch.nn.Sequential") return beginsComputing(made.args[0]?.value, file, depth + 1);
  if (COMPUTING.test(name)) return true;
  const returned = file.once(returnsByName).get(callTarget(made, file) ?? "") ?? [];
  return returned.length > 0 && returned.every((one) => beginsComputing(one, file, depth + 1));
}

/** `self.downsample = downsample`, and nothing else. */
function isGivenShortcut(expr: Expr, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own !== null && /^(?:downsample|shortcut)$/.test(own) ? classOf(expr) : null;
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.length > 0 && writes.every(({ value }) => value?.kind === "Name" && value.id === own);
}

/** `skips.append(x.clone())` of what a layer made, in a forward that writes into neither. */
function isKeptSkip(call: Call, value: Expr, facts: Facts): boolean {
  const { file } = facts;
  const keeps = call.parent?.kind === "Arg" ? call.parent.parent : null;
  const forward = functionOf(call);
  if (
    value.kind !== "Name" ||
    keeps?.kind !== "Call" ||
    keeps.func.kind !== "Attribute" ||
    keeps.func.attr !== "append" ||
    keeps.func.value.kind !== "Name" ||
    forward?.kind !== "FunctionDef" ||
    forward.name !== "forward"
  )
    return false;
  const made = file.scopes.reaching(value);
  const keepsIn = keeps.func.value.id;
  return (
    made.length > 0 &&
    made.every(
      ({ how, value: by }) =>
        how === "assign" &&
        by?.kind === "Call" &&
        (isOwnLayer(by.func, file) || /^torch\.nn\.functional\.\w+[a-z]$/.test(file.dotted(by.func) ?? "")),
    ) &&
    // What is written into further down, by the same name, may be another one.
    !isWrittenIn(
      forward,
      (one) => one.id === keepsIn || (one.id === value.id && isOneOf(file.scopes.reaching(one), ...made)),
    ) &&
    !file.once(beginsInPlace)
  );
}

/** `self.conv`, `self.blocks[i]`, `block` of `for block in self.blocks` and of `for block, attend in self.blocks`. */
function isOwnLayer(func: Expr, file: PythonFile): boolean {
  const holder = func.kind === "Subscript" ? func.value : func;
  if (selfAttribute(holder) !== null) return true;
  const [made, ...more] = func.kind === "Name" ? file.scopes.reaching(func) : [];
  const around = made?.node.parent;
  const loop = around?.kind === "Tuple" ? around.parent : around;
  return more.length === 0 && loop?.kind === "For" && selfAttribute(loop.iter) !== null;
}

/** `x += y`, `x[0] = y`, `x.add_(y)`, of one of these names or a part of it. */
function isWrittenIn(fn: FunctionDef, isNamed: (name: Name) => boolean): boolean {
  const isOne = (expr: Expr): boolean => {
    const whole = expr.kind === "Subscript" ? expr.value : expr;
    return whole.kind === "Name" && isNamed(whole);
  };
  let written = false;
  walk(fn, (node) => {
    if (node.kind === "AugAssign") written ||= isOne(node.target);
    else if (node.kind === "Assign")
      written ||= node.targets.some((target) => target.kind === "Subscript" && isOne(target));
    else if (node.kind === "Call" && node.func.kind === "Attribute")
      written ||= /[^_]_$/.test(node.func.attr) && isOne(node.func.value);
    return !written;
  });
  return written;
}

/** A layer that writes into what its block is given; those of an embedding are given no skip. */
function beginsInPlace(file: PythonFile): boolean {
  return file.calls.given(["inplace"]).some((layer) => {
    const { parent } = layer;
    // `self.relu = nn.ReLU(inplace=True)`, and `self.relu(x)` of what the block is given.
    const own = parent?.kind === "Assign" ? selfAttribute(parent.targets[0]!) : null;
    if (own !== null)
      return file
        .callsNamed(own)
        .some(({ func, args }) => selfAttribute(func) === own && isGiven(args[0]?.value, file));
    const isFirst =
      parent?.kind === "List"
        ? parent.items[0] === layer
        : parent?.kind === "Arg" && parent.parent?.kind === "Call" && parent.parent.args[0] === parent;
    const made = isFirst ? statementOf(layer) : null;
    return made !== null && !/emb|time/i.test(file.textOf(made));
  });
}

const isGiven = (expr: Expr | undefined, file: PythonFile): boolean =>
  expr?.kind === "Name" && file.scopes.reaching(expr).some(({ how }) => how === "param");

/** `unet(x, t, return_dict=False)[0]`: one of a tuple. */
function isItem({ value, index }: Subscript): boolean {
  return index.kind === "Num" && value.kind === "Call" && keyword(value, "return_dict") !== null;
}

/** `loss, logits = self.shared_step(batch)`, and nothing here writes into what was handed back. */
function isHandedBack(expr: Expr, facts: Facts): boolean {
  const whole = expr.kind === "Subscript" && expr.index.kind === "Str" ? expr.value : expr;
  if (whole.kind !== "Name") return false;
  const [made, ...more] = facts.file.scopes.reaching(whole);
  return (
    more.length === 0 &&
    (made?.how === "unpack" || made?.how === "assign") &&
    made.value?.kind === "Call" &&
    !(facts.file.dotted(made.value.func) ?? "").startsWith("torch.") &&
    facts.onAccelerator(expr) &&
    facts.file.scopes.uses(made).every((use) => {
      const at = use.parent;
      if (at?.kind === "Attribute") return !/[^_]_$/.test(at.attr) && at.attr !== "data";
      return !(at?.kind === "Subscript" && at.value === use && (at.parent?.kind ?? "").endsWith("Assign"));
    })
  );
}

/** `net.project(x)`: what is asked for is computed, where a getter may hand out what the network keeps. */
function isOfMethod(expr: Expr, facts: Facts): boolean {
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    expr.args.length > 0 &&
    /^(?:project|encode|decode|forward|extract|embed|predict)(?:_\w+)?$/.test(expr.func.attr) &&
    facts.file.dotted(expr.func) === null &&
    isNetwork(expr.func.value, facts)
  );
}

/** `out = net(x)`, and `out = out.clone()` is all that is ever done with that. */
function isOnlyUse(expr: Expr, facts: Facts): boolean {
  const [made, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return (
    more.length === 0 &&
    made?.how === "assign" &&
    made.value?.kind === "Call" &&
    isNetwork(made.value.func, facts) &&
    facts.file.scopes.uses(made).length === 1
  );
}

/**
 * `outputs.logits`, `outputs["logits"]` of what a network returned, where nobody asks for that part again, and nobody gets the
 * whole: `outputs.loss` is another part. By a name of its own it is the same, `logits = outputs.logits`.
 */
function isPartReadOnce(expr: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const part = partOf(expr);
  if (part === null) {
    const [made, ...more] = expr.kind === "Name" ? scopes.reaching(expr) : [];
    return (
      more.length === 0 &&
      made?.how === "assign" &&
      made.value !== null &&
      partOf(made.value) !== null &&
      scopes.uses(made).length === 1 &&
      isPartReadOnce(made.value, facts)
    );
  }
  const { value: whole } = expr as Subscript | Attribute;
  if (whole.kind === "Call") return isNetwork(whole.func, facts);
  const [made, ...more] = whole.kind === "Name" ? scopes.reaching(whole) : [];
  return (
    more.length === 0 &&
    made?.how === "assign" &&
    made.value?.kind === "Call" &&
    isNetwork(made.value.func, facts) &&
    scopes.uses(made).every(({ parent }) => {
      const other = parent && "value" in parent ? partOf(parent as Expr) : null;
      return parent === expr || (other !== null && other !== part && !ALIASES.test(other));
    })
  );
}

/** What a part of an output is called: `logits` of `outputs.logits` and of `outputs["logits"]`; `scores.T` is all of a tensor. */
function partOf(expr: Expr): string | null {
  if (expr.kind === "Attribute") return /^(?:data|grad|m?[TH]|real|imag)$/.test(expr.attr) ? null : expr.attr;
  return expr.kind === "Subscript" && expr.index.kind === "Str" ? expr.index.value : null;
}

/** Other parts that may hold the same tensor, and ways to ask for all of them. */
const ALIASES = /^(?:hidden_states|get|items|values|keys|to_tuple|pop|copy|detach|clone|to|float)$/;

/** `scores = outputs.logits.clone()`, and `scores[mask] = 0` in the same function. */
function isWrittenByName(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const { parent } = handedOn(call, facts);
  if (parent?.kind === "Attribute" && /[^_]_$/.test(parent.attr)) return true;
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  if (!target) return false;
  if (target.kind !== "Name" || fn?.kind !== "FunctionDef") return true;
  return isWrittenIn(
    fn,
    (one) => one.id === target.id && isOneOf(file.scopes.reaching(one), file.scopes.definitionAt(target)),
  );
}

function isDetached(expr: Expr, facts: Facts): boolean {
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    expr.func.attr === "detach" &&
    isOutput(expr.func.value, facts)
  );
}

/** A view of another shape, or a kernel of one's own, needs it written out. */
function isReshaped(call: Call, facts: Facts): boolean {
  const isShaping = (node: Node): boolean =>
    node.parent?.kind === "Attribute" &&
    /^(?:view|reshape|flatten|data_ptr|stride|unflatten)$/.test(node.parent.attr);
  if (isShaping(call)) return true;
  const { parent } = call;
  const target = parent?.kind === "Assign" ? parent.targets[0] : null;
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  return made !== null && facts.file.scopes.uses(made).some(isShaping);
}
