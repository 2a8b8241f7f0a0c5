import { argument, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, If, Name, Node, NodeOf } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { validationStep } from "../facts/facts.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { isNetwork } from "../facts/networks.ts";
import { needlessRepeats } from "../facts/repeats.ts";
import { isBoundBy, loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM045",
    name: "tensor-grown-by-cat",
    summary: "A tensor grows by one `cat` a turn, or is repeated where a view would do: everything is copied",
    severity: "warning",
    fix: "unsafe",
    patterns: [45, 81],
    onDevice: "program",
  },
  *check(facts) {
    yield* grown(facts);
    if (facts.guesses) yield* likelyGrown(facts);
    yield* repeated(facts);
  },
};

/**
 * `kept = torch.cat([kept, part])` in whatever form, of a name, an attribute or an entry, in a loop or in what runs every step, unless
 * each turn needs the whole: sequences that are generated, layers that see all before them.
 */
function* likelyGrown(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("cat", "concat", "concatenate", "hstack", "vstack", "append")) {
    if (file.dotted(call.func)?.startsWith("torch.") !== true) continue;
    const statement = statementOf(call);
    const [target, ...more] = statement?.kind === "Assign" ? statement.targets : [];
    if (!statement || !target || more.length > 0 || target.kind === "Tuple") continue;
    const fn = functionOf(statement);
    if (fn?.kind === "FunctionDef" && WANTS_WHOLE.test(fn.name)) continue;
    if (statement.kind !== "Assign" || !isItsValue(call, statement.value)) continue;
    const text = file.textOf(target);
    if (target.kind === "Subscript" && !isSameEntry(target.index, statement, file)) continue;
    if (WANTS_WHOLE.test(text) || !firstOf(call).some((item) => file.textOf(item) === text)) continue;
    const [loop] = loopsAround(statement);
    if (
      loop
        ? isNeeded(text, statement, loop, facts)
        : target.kind !== "Attribute" ||
          // `def select_action(self, state)`, which a loop of another file calls for each step of an environment.
          (facts.everyStep(call) === null && !facts.functionFacts(call).repeated)
    )
      continue;
    if (!loop && isCut(text, file)) continue;
    if (facts.frequency(statement, loop ?? fn ?? file.tree.module) === "throttled") continue;
    yield {
      at: statement,
      message: `Every turn allocates \`${text}\` anew and copies all of it; collect the parts in a list and \`cat\` once where they are read`,
    };
  }
}

/** `cat(…)`, `cat(…).detach()`, or one of two things that are chosen from. */
function isItsValue(call: Call, value: Expr): boolean {
  if (value === call) return true;
  if (value.kind === "IfExp") return isItsValue(call, value.body) || isItsValue(call, value.orelse);
  return value.kind === "Call" && value.func.kind === "Attribute" && isItsValue(call, value.func.value);
}

/** `found["a"]`, or `found[kind]` of a loop inside the one over batches: not another one each turn. */
function isSameEntry(index: Expr, statement: Node, file: PythonFile): boolean {
  if (index.kind === "Str" || index.kind === "Num") return true;
  const loops = loopsAround(statement);
  if (index.kind !== "Name" || loops.length < 2) return false;
  const [inner] = loops;
  return isBoundBy(inner!, index, file);
}

/** Where the next part is computed from all before it, and what is cut to a length again. */
const WANTS_WHOLE = /generat|sampl|decod|beam|past|cache|kv|stack_layers|pad|interleave|window/i;

/** What is joined, also behind a choice: `[kept, part] if kept is not None else [part]`. */
function firstOf(call: Call): readonly Expr[] {
  const given = call.args.map(({ value }) => value);
  return given.flatMap((one) =>
    one.kind === "IfExp"
      ? [...itemsOf(one.body), ...itemsOf(one.orelse)]
      : one.kind === "Name" || one.kind === "Attribute"
        ? [one]
        : itemsOf(one),
  );
}

/** Begun in this turn, or read in it by something that does more than ask whether it is there, or count it. */
function isNeeded(text: string, statement: Node, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const base = /^\w+/.exec(text)![0];
  const isBegunByName = file
    .all("Assign")
    .some(
      (one) =>
        one !== statement &&
        contains(loop, one) &&
        one.targets.some((target) => file.textOf(target) === text) &&
        !isOtherBranch(one, statement),
    );
  const isReadBeside = file.textOf(statement).split(text).length > 3;
  if (isBegunByName || isReadBeside) return true;
  return file
    .all(base === text ? "Name" : text.includes("[") ? "Subscript" : "Attribute")
    .some(
      (read) =>
        contains(loop, read) &&
        !contains(statement, read) &&
        file.textOf(read) === text &&
        !isNoneTest(read) &&
        !isLast(read, file) &&
        !(read.parent?.kind === "Assign" && read.parent.targets.includes(read as never)) &&
        !(
          read.parent?.kind === "Arg" &&
          read.parent.parent?.kind === "Call" &&
          file.dotted(read.parent.parent.func) === "builtins.print"
        ) &&
        facts.frequency(read, loop) !== "throttled",
    );
}

/** `self.queue = self.queue[-n:]`, `self.queue = None`, somewhere else. */
function isCut(text: string, file: PythonFile): boolean {
  return file
    .all("Assign")
    .some(
      ({ targets: [target], value }) =>
        target !== undefined &&
        file.textOf(target) === text &&
        value.kind === "Subscript" &&
        file.textOf(value.value) === text,
    );
}

function* grown(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const value of file.callsNamed("cat", "concat", "concatenate", "hstack", "vstack")) {
    const { parent } = value;
    const statement =
      (parent?.kind === "IfExp" && parent.test !== value) || parent?.kind === "Tuple"
        ? parent.parent
        : parent;
    if (statement?.kind !== "Assign") continue;
    // `a, b = cat([a, x]), cat([b, y])`
    const [left] = statement.targets;
    const target =
      parent?.kind === "Tuple"
        ? left?.kind === "Tuple"
          ? left.items[parent.items.indexOf(value)]
          : undefined
        : left;
    const own = target ? selfAttribute(target) : null;
    const [around] = loopsAround(statement);
    const often = (): boolean =>
      facts.everyStep(value) !== null ||
      (around !== undefined && overBatches(around, facts) && facts.frequency(statement, around) === "every");
    const repeated = (): boolean =>
      facts.functionFacts(value).repeated &&
      isOnlyBegun(statement, own!, facts) &&
      facts.frequency(elseOfNone(statement, own!) ?? statement, functionOf(statement)!) === "every";
    // Lightning calls it for every batch of a validation.
    const measured = (): boolean => {
      const step = validationStep(statement, facts);
      return step !== null && facts.frequency(statement, step) === "every";
    };
    if (
      own !== null &&
      isTorchCat(value, facts) &&
      joins(value, own) &&
      (often() || repeated() || measured())
    ) {
      yield {
        at: statement,
        ...(often() ? {} : { severity: "note" as const }),
        message: `Every step allocates \`self.${own}\` anew and copies all of it${measured() ? "" : ", and it never ends to grow"}; collect the parts in a list, or write into a tensor made once`,
      };
      continue;
    }
    const parts = positional(value, 0);
    // `feats["a"] = cat([feats["a"], a])`
    if (
      target?.kind === "Subscript" &&
      (parts?.kind === "Tuple" || parts?.kind === "List") &&
      parts.items.some((item) => file.textOf(item) === file.textOf(target)) &&
      isTorchCat(value, facts)
    ) {
      const named = target.index.kind === "Str" && target.value.kind === "Name" && often();
      if (named || isEntryGrown(target, statement, facts))
        yield {
          at: statement,
          ...(named ? {} : { severity: "note" as const }),
          message: `Every turn allocates \`${file.textOf(target)}\` anew and copies all of it; collect the parts in a list and \`cat\` once after the loop`,
        };
      continue;
    }
    if (statement.targets.length !== 1 || target?.kind !== "Name" || !isTorchCat(value, facts)) continue;
    const loop = loopsAround(statement)[0];
    const items = parts ? itemsOf(parts) : [];
    if (!loop || items.length < 2) continue;
    const same = items.find((item) => item.kind === "Name" && item.id === target.id);
    if (same?.kind !== "Name") continue;
    const before = file.scopes.reaching(same);
    // Begun in this turn: two parts joined once.
    if (
      before.some(
        (one) =>
          contains(loop, one.node) &&
          !contains(statement, one.node) &&
          one.node.start < statement.start &&
          !isOtherBranch(one.node, statement),
      ) ||
      !before.some(
        (one) =>
          !contains(loop, one.node) ||
          isBegunFirst(one.node, statement, loop, facts) ||
          isBegunInPlace(value, loop, file),
      ) ||
      before.some((one) => one.how === "param")
    )
      continue;
    // Read by the loop itself, as in generation, each turn needs the whole.
    const fn = functionOf(statement);
    const reads = file
      .all("Name")
      .filter(
        (name) =>
          name.id === target.id &&
          name !== same &&
          contains(loop, name) &&
          functionOf(name) === fn &&
          !file.scopes.binds(name) &&
          !isNoneTest(name) &&
          !isLast(name, file) &&
          !isPartOfTurn(name, value, loop, file),
      );
    // `if step % 100 == 0: print(history.mean())` needs it now and then only.
    if (reads.some((name) => facts.frequency(name, loop) !== "throttled")) continue;
    if (reads.length > 0 && isBegunAgain(target, loop, statement, facts)) continue;
    yield {
      at: statement,
      // Over a handful of parts nobody notices; over batches, or in the step, it is quadratic.
      severity:
        reads.length === 0 &&
        ((runsOften(loop, facts) && !overSettings(loop, facts)) || overBatches(loop, facts)) &&
        !isPicture(target.id, loop, facts)
          ? "warning"
          : "note",
      message: `Every turn allocates \`${target.id}\` anew and copies all of it; collect the parts in a list and \`cat\` ${reads.length > 0 ? "where they are read" : "once after the loop"}`,
    };
  }
}

/** `feats[k] = cat([feats[k], f])` for every batch, of entries that were there before and that nothing in the loop reads. */
function isEntryGrown({ value: held, index }: NodeOf<"Subscript">, statement: Node, facts: Facts): boolean {
  const { file } = facts;
  if (held.kind !== "Name") return false;
  const before = file.scopes.reaching(held);
  const loop = loopsAround(statement).find((one) => overBatches(one, facts));
  return (
    loop !== undefined &&
    comesAgain(index, loop, file) &&
    facts.frequency(statement, loop) !== "throttled" &&
    before.length > 0 &&
    before.every(({ how, node }) => how === "assign" && !contains(loop, node)) &&
    before
      .flatMap((one) => file.scopes.uses(one))
      .every((use) => !contains(loop, use) || contains(statement, use) || isBegunOrAsked(use))
  );
}

/** Whether the turns of a loop have the key in common: `at % 2`, one that it had before, or those that a loop inside goes through. */
function comesAgain(index: Expr, loop: Loop, file: PythonFile): boolean {
  if (index.kind === "Str" || index.kind === "Num") return true;
  if (index.kind === "Binary") return index.op === "%";
  return (
    index.kind === "Name" &&
    file.scopes
      .reaching(index)
      .every(({ how, node }) => !contains(loop, node) || (how === "iterate" && !isBoundBy(loop, index, file)))
  );
}

/** `feats[k] = f`, or `k in feats` */
function isBegunOrAsked({ parent }: Name): boolean {
  if (parent?.kind === "Compare") return /^(?:not )?in$/.test(parent.ops[0]!);
  return (
    parent?.kind === "Subscript" && parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent)
  );
}

/** `pending = torch.empty(0)` below, in the same loop: what has been read is dropped, so that it stays short. */
function isBegunAgain({ id }: Name, loop: Loop, statement: Node, { file }: Facts): boolean {
  return file
    .all("Name")
    .some(
      (name) =>
        name.id === id && contains(loop, name) && !contains(statement, name) && file.scopes.binds(name),
    );
}

/** `[all] + parts` too. */
function itemsOf(parts: Expr): readonly Expr[] {
  if (parts.kind === "Binary")
    return parts.op === "+"
      ? [...itemsOf(parts.left), ...(parts.right.kind === "List" ? parts.right.items : [parts.right])]
      : [];
  return parts.kind === "Tuple" || parts.kind === "List" ? parts.items : [];
}

/** The test around `else: self.rows = cat(…)` of an `if self.rows is None: self.rows = part`: the first turn alone does not come by. */
function elseOfNone({ parent }: Node, attribute: string): If | null {
  const test = parent?.kind === "If" && parent.test.kind === "Compare" ? parent.test : null;
  return test && selfAttribute(test.left) === attribute && isNoneTest(test.left) ? (parent as If) : null;
}

/** Nothing but the constructor, or a method that empties it, writes the attribute beside this; nor but what begins it. */
function isOnlyBegun(statement: Node, attribute: string, facts: Facts): boolean {
  const cls = classOf(statement);
  const writes = cls ? (attributesOf(cls, facts.file).get(attribute)?.writes ?? []) : [];
  return writes.every(
    ({ in: method, target }) =>
      contains(statement, target) ||
      contains(elseOfNone(statement, attribute) ?? statement, target) ||
      /^(?:__init__|_?(?:reset|clear|init|empty)\w*)$/.test(method.name),
  );
}

function isTorchCat(call: Call, facts: Facts): boolean {
  return /^torch\.(?:cat|concat|concatenate|hstack|vstack)$/.test(facts.file.dotted(call.func) ?? "");
}

/** `cat([self.bank, …])` */
function joins(call: Call, attribute: string): boolean {
  const parts = positional(call, 0);
  return (
    (parts?.kind === "Tuple" || parts?.kind === "List") &&
    parts.items.some((item) => selfAttribute(item) === attribute)
  );
}

/** `if i == 0: all = part`, `else: all = cat(…)`: the first turn begins it. */
function isBegunFirst(before: Node, statement: Node, loop: Loop, { file }: Facts): boolean {
  const test = isOtherBranch(before, statement) ? testAround(before, statement) : null;
  return test !== null && isOfTurn(test, loop, file);
}

/** `i == 0`, `i > 0`, where the loop counts `i`. */
function isOfTurn(test: Expr, loop: Loop, file: PythonFile): test is NodeOf<"Compare"> {
  if (test.kind !== "Compare" || test.left.kind !== "Name") return false;
  const [right] = test.rights;
  return right?.kind === "Num" && right.text === "0" && isBoundBy(loop, test.left, file);
}

/** `all = part if i == 0 else cat([all, part])`, or the other way round: the first turn begins it in the same statement. */
function isBegunInPlace(cat: Call, loop: Loop, file: PythonFile): boolean {
  const { parent } = cat;
  if (parent?.kind !== "IfExp" || !isOfTurn(parent.test, loop, file)) return false;
  const [op] = parent.test.ops;
  return parent.orelse === cat ? op === "==" : op === ">" || op === "!=";
}

/** The test that decides between the two. */
function testAround(before: Node, statement: Node): Expr | null {
  for (let at = statement.parent; at; at = at.parent)
    if (at.kind === "If" && contains(at, before)) return at.test;
  return null;
}

/** The loop goes over a loader, or runs a network each turn. */
function overBatches(loop: Loop, facts: Facts): boolean {
  // One batch in parts, or a look at what was exported.
  if (isInParts(loop, facts) || nameOf(functionOf(loop)).startsWith("test_")) return false;
  if (loop.kind === "For" && /load|batch|data/i.test(facts.file.textOf(loop.iter))) return true;
  return facts.file.all("Call").some((call) => contains(loop, call) && isNetwork(call.func, facts));
}

/** Saved as an image, or shown: as many parts as someone looks at. */
function isPicture(name: string, loop: Loop, { file }: Facts): boolean {
  return file
    .callsNamed("save_image", "make_grid", "imshow", "imsave", "add_image")
    .some((call) => call.start > loop.end && new RegExp(`\\b${name}\\b`).test(file.textOf(call)));
}

/** `states[-1:]`, `images.shape[0]`: of all that has been joined only the last part is read, or how much it is. */
function isLast({ parent }: Node, file: PythonFile): boolean {
  if (parent?.kind === "Attribute") return /^(?:shape|size|ndim|numel)$/.test(parent.attr);
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return file.dotted(parent.parent.func) === "builtins.len";
  return parent?.kind === "Subscript" && /^(?::, *)?(?:-1:?|0)$/.test(file.textOf(parent.index).trim());
}

/**
 * `outputs[:, t - 1]` of a loop that counts `t`, where the second axis is the one that grows: the part that one turn has added,
 * which a list has at hand as well.
 */
function isPartOfTurn({ parent }: Node, cat: Call, loop: Loop, file: PythonFile): boolean {
  if (parent?.kind !== "Subscript") return false;
  const axis = argument(cat, "dim", 1);
  const at = axis === null ? 0 : axis.kind === "Num" ? Number(axis.text) : -1;
  const picked = parent.index.kind === "Tuple" ? parent.index.items : [parent.index];
  const one = picked[at];
  const counter =
    one?.kind === "Binary" && /^[+-]$/.test(one.op) && one.right.kind === "Num" ? one.left : one;
  return (
    counter?.kind === "Name" &&
    loop.kind === "For" &&
    loop.iter.kind === "Call" &&
    /^builtins\.(?:range|enumerate)$/.test(file.dotted(loop.iter.func) ?? "") &&
    isCounter(counter, loop, file)
  );
}

/** `t` of `for t in range(n)` and of `for t, part in enumerate(parts)`. */
function isCounter(name: Name, loop: NodeOf<"For">, file: PythonFile): boolean {
  const counted = loop.target.kind === "Tuple" ? loop.target.items[0] : loop.target;
  return counted?.kind === "Name" && counted.id === name.id && isBoundBy(loop, name, file);
}

/** `for part in torch.chunk(x, n)` */
function isInParts(loop: Loop, { file }: Facts): boolean {
  if (loop.kind !== "For") return false;
  const over = loop.iter.kind === "Name" ? file.scopes.onlyValue(loop.iter) : loop.iter;
  return (
    over?.kind === "Call" && over.func.kind === "Attribute" && /^(?:chunk|split|unbind)$/.test(over.func.attr)
  );
}

function nameOf(fn: Node | null): string {
  return fn?.kind === "FunctionDef" ? fn.name : "";
}

function isNoneTest(name: Node): boolean {
  return name.parent?.kind === "Compare" && name.parent.ops[0]!.startsWith("is");
}

/** `for kind in self.config.kinds`: a handful. */
function overSettings(loop: Loop, { file }: Facts): boolean {
  return (
    loop.kind === "For" &&
    /^(?:self\.)?_?(?:config|cfg|args|opts?|hparams)\.\w+$|^kwargs\.(?:items|values)\(\)$/.test(
      file.textOf(loop.iter),
    )
  );
}

/** Repeated where a view would do. */
function* repeated(facts: Facts): Generator<Finding> {
  for (const { call, viewable } of needlessRepeats(facts)) {
    if (isLaidOut(call, facts) || (facts.guesses && isOfRow(call))) continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${call.func.attr}\` writes out every copy; \`expand\` gives the same values as a view, and arithmetic broadcasts by itself`,
      ...(viewable
        ? {
            fix: {
              grade: "unsafe" as const,
              title: "Expand instead",
              edits: [
                { start: call.func.attrStart, end: call.func.attrStart + "repeat".length, text: "expand" },
                ...call.args.flatMap(({ value }) =>
                  value.kind === "Num" && value.text === "1"
                    ? [{ start: value.start, end: value.end, text: "-1" }]
                    : [],
                ),
              ],
            },
          }
        : {}),
    };
  }
}

/** `x.repeat(1, n, 1).view(b * n, -1)`, also by a name: laid out in another shape, the copies are written all the same. */
function isLaidOut(call: Call, { file }: Facts): boolean {
  const isReshaped = ({ parent }: Node): boolean =>
    parent?.kind === "Attribute" && /^(?:view|reshape|flatten)$/.test(parent.attr);
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  return isReshaped(call) || (uses.length > 0 && uses.every(isReshaped));
}

/** `row.view(1, -1, 1).repeat(n, 1, 1)`: one row of numbers, written out or not. */
function isOfRow({ func }: Call): boolean {
  const made = func.kind === "Attribute" ? func.value : null;
  return (
    made?.kind === "Call" &&
    /^(?:view|reshape)$/.test(lastWord(made.func)) &&
    made.args.length > 2 &&
    made.args.filter(({ value }) => !(value.kind === "Num" && value.text === "1")).length === 1
  );
}

/** In the step, and not behind an option that is off. */
function runsOften(loop: Loop, facts: Facts): boolean {
  const hot = facts.hot(loop.body[0]!);
  return hot !== null && (hot.within === loop || facts.frequency(loop, hot.within) === "every");
}
