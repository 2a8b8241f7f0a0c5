import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, isScope, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Clause, Expr, For, If, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { FUNCTIONS, METHODS, last } from "./torch-names.ts";

/** Whether a name is written to within a node. */
type Changes = (name: Name, within: Node) => boolean;

/**
 * What is computed of the inner one of two loops alone, and therefore again in every turn of the outer:
 * `for teacher in teachers: for student in students: student.log_softmax(-1)`.
 */
export function comesAgain(call: Call, facts: Facts, changes: Changes): boolean {
  const turns = turnsAround(call);
  return turns.some(
    (outer, at) =>
      !trainsIn(outer, facts) &&
      !isUnderTest(call, outer) &&
      (isOfPart(call, outer, facts, changes) ||
        (turns.slice(0, at).some((inner) => isMadeIn(inner, call, facts.file)) &&
          isSame(call, outer, facts, changes))),
  );
}

/** The loops and clauses around, the innermost first, as far as nothing but `for` goes through them. */
function turnsAround(call: Call): readonly (For | Clause)[] {
  const found: (For | Clause)[] = [];
  let below: Node = call;
  for (const at of ancestors(call)) {
    if (at.kind === "While" || (isScope(at) && at.kind !== "Comp")) break;
    if (at.kind === "For" && !contains(at.iter, call)) found.push(at);
    if (at.kind === "Comp") {
      const until = at.clauses.findIndex((clause) => clause === below);
      found.push(...at.clauses.slice(0, until < 0 ? at.clauses.length : until).toReversed());
    }
    below = at;
  }
  return found;
}

/** What is run in each turn: a clause's is that of its comprehension. */
function within(turn: For | Clause): Node {
  return turn.kind === "For" ? turn : turn.parent!;
}

/** A loop over steps has other weights, and so other scores, in each turn. */
function trainsIn(turn: For | Clause, facts: Facts): boolean {
  return (
    turn.kind === "For" &&
    (facts.stepLoops.has(turn) || facts.backwards.some(({ call }) => contains(turn, call)))
  );
}

/** `if i == 0`, `if name not in known`: perhaps in one turn alone. `if i != j` leaves out one of many. */
function isUnderTest(call: Call, outer: For | Clause): boolean {
  return ancestors(call).some(
    (at) =>
      ((at.kind === "If" && !contains(at.test, call)) || at.kind === "IfExp") &&
      contains(within(outer), at) &&
      !leavesOutOne(at.test),
  );
}

function leavesOutOne(test: If["test"]): boolean {
  return test.kind === "Compare" && test.ops.every((op) => /^(?:!=|<|>|<=|>=|is not)$/.test(op));
}

/** It reads what the inner one hands out, or what is made of that there. */
function isMadeIn(inner: For | Clause, call: Call, file: PythonFile): boolean {
  return namesIn(call).some((name) =>
    (file.scopes.lookup(name)?.definitions ?? []).some(({ node }) => contains(within(inner), node)),
  );
}

/** `for teacher, student in product(teachers, students)`, of one of them. */
function isOfPart(call: Call, turn: For | Clause, facts: Facts, changes: Changes): boolean {
  const { target, iter } = turn;
  if (target.kind !== "Tuple" || iter.kind !== "Call" || !PAIRS.test(facts.file.dotted(iter.func) ?? ""))
    return false;
  const read = new Set(namesIn(call).map(({ id }) => id));
  const used = target.items.filter((item) => namesIn(item).some(({ id }) => read.has(id)));
  return (
    used.length > 0 &&
    used.length < target.items.length &&
    isSame(call, turn, facts, changes, new Set(used.flatMap(namesIn)))
  );
}

const PAIRS = /^itertools\.(?:product|permutations|combinations)$/;

/** Computed of nothing that another turn has otherwise, but for the parts of it that come again. */
function isSame(
  expr: Expr,
  outer: For | Clause,
  facts: Facts,
  changes: Changes,
  again: ReadonlySet<Node> = new Set(),
  depth = 0,
): boolean {
  if (depth > 6) return false;
  const { file } = facts;
  const whole = within(outer);
  const ask = (inner: Expr): boolean => isSame(inner, outer, facts, changes, again, depth + 1);
  const isKnown = ({ how, node, value }: Definition): boolean => {
    if (again.has(node)) return true;
    if (value === null || contains(outer.target, node)) return false;
    return how === "iterate" ? ask(value) || isTail(value, file, ask) : how === "assign" && ask(value);
  };
  let same = true;
  walk(expr, (node) => {
    if (node.kind === "Call" && !isPlain(node, file)) same = false;
    if (node.kind === "Name" && same && file.dotted(node) === null) {
      const inside = (file.scopes.lookup(node)?.definitions ?? []).filter((one) => contains(whole, one.node));
      same = inside.length < 2 && inside.every(isKnown) && !changes(node, whole);
    }
    return same;
  });
  return same;
}

/** `range(i + 1, n)`: what is left to pair with, and all but the first of it was there in the turn before. */
function isTail(iter: Expr, file: PythonFile, ask: (expr: Expr) => boolean): boolean {
  return (
    iter.kind === "Call" &&
    file.dotted(iter.func) === "builtins.range" &&
    iter.args.length === 2 &&
    ask(iter.args[1]!.value)
  );
}

const DRAWS = /^(?:bernoulli|multinomial|dropout|\w+_)$/;

/** It gives the same for the same, and changes nothing. */
function isPlain({ func }: Call, file: PythonFile): boolean {
  const name = file.dotted(func);
  if (name === null) {
    const word = lastWord(func);
    return (
      func.kind === "Attribute" &&
      (METHODS.has(word) || /^(?:to|cuda|size|detach|values|items|keys)$/.test(word)) &&
      !DRAWS.test(word)
    );
  }
  return (
    /^builtins\.(?:range|len|enumerate|zip|reversed|list|tuple|float|int)$/.test(name) ||
    (/^torch\.(?:nn\.functional\.)?\w+$/.test(name) &&
      (FUNCTIONS.has(last(name)) || last(name) === "normalize") &&
      !DRAWS.test(last(name)))
  );
}
