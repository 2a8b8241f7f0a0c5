import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Clause, Expr, For, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { loopsAround, optimizerSteps } from "./training.ts";

/** A loop whose turns each take from a list whether ranks exchange gradients, and what is wrong with that list. */
export interface Listed {
  readonly at: Expr;
  readonly wrong: "first" | "never";
}

/** Whether ranks exchange gradients under an entry of a list; null where that is not known. */
type Exchanges = (entry: Expr) => boolean | null;

/** Whether ranks exchange gradients in the first turns that a list is for, and in the last. */
interface Ends {
  readonly first: boolean;
  readonly last: boolean;
}

/**
 * `[nullcontext] + [net.no_sync] * (n - 1)`, entered turn by turn: the exchange of the first turn knows nothing of what the later
 * ones add. Right is the other way round.
 */
export function* wrongLists(facts: Facts): Generator<Listed> {
  const { file } = facts;
  if (file.mentions("no_sync"))
    for (const { context, parent } of file.all("WithItem")) {
      const entered = context.kind === "Call" && context.args.length === 0 ? context.func : context;
      // `nullcontext() if sync else net.no_sync()`, of a list of flags.
      const flag = context.kind === "IfExp" ? context : entered.kind === "IfExp" ? entered : null;
      const exchanges = flag ? flagged(flag, file) : (one: Expr) => exchanged(one, file);
      if (parent && exchanges)
        yield* listedFor(flag ? unnegated(flag.test) : entered, exchanges, parent, facts);
    }
  // `net.require_backward_grad_sync = sync`
  for (const { value } of file.assignsTo("require_backward_grad_sync"))
    yield* listedFor(
      unnegated(value),
      (one) => isSet(one, isPlain(value)),
      loopsAround(value)[0] ?? null,
      facts,
    );
  for (const call of file.callsNamed("set_requires_gradient_sync")) {
    const value = argument(call, "requires_gradient_sync", 0);
    if (value)
      yield* listedFor(
        unnegated(value),
        (one) => isSet(one, isPlain(value)),
        loopsAround(call)[0] ?? null,
        facts,
      );
  }
}

/** `block` is where that holds. */
function* listedFor(taken: Expr, exchanges: Exchanges, block: Node | null, facts: Facts): Generator<Listed> {
  const [loop] = loopsAround(taken);
  const list = loop?.kind === "For" ? chosenIn(taken, loop, facts.file) : null;
  if (!block || !list || loop?.kind !== "For" || !isAllOf(block, loop, facts)) return;
  const wrong = wrongWith(list, exchanges, loop, facts);
  if (wrong) yield { at: list.value, wrong };
}

/** All that this loop differentiates it does there, and nothing is differentiated after it that would exchange what it left. */
function isAllOf(block: Node, loop: For, { backwards }: Facts): boolean {
  const fn = functionOf(loop);
  const near = backwards.filter(({ call }) => functionOf(call) === fn);
  const inside = near.filter(({ call }) => contains(loop, call));
  return (
    inside.length > 0 &&
    inside.every(({ call }) => contains(block, call) && loopsAround(call)[0] === loop) &&
    !near.some(({ call }) => call.start > loop.end)
  );
}

interface List {
  /** What the name is read as in the loop, where it has one. */
  readonly name: Name | null;
  readonly value: Expr;
}

/** The list that a loop takes `context` from: `for x, context in zip(xs, contexts)`, `contexts[i]` of `for i, x in enumerate(xs)`. */
function chosenIn(entered: Expr, loop: For, file: PythonFile): List | null {
  if (entered.kind === "Subscript") {
    const counter = entered.index.kind === "Name" ? entered.index : null;
    const [from] = counter ? file.scopes.reaching(counter) : [];
    const counts =
      from?.how === "iterate" &&
      contains(loop.target, from.node) &&
      loop.iter.kind === "Call" &&
      /^builtins\.(?:range|enumerate)$/.test(file.dotted(loop.iter.func) ?? "") &&
      loop.iter.args.length === 1;
    return counts && entered.value.kind === "Name" ? listOf(entered.value, file) : null;
  }
  if (entered.kind !== "Name") return null;
  const [made, ...more] = file.scopes.reaching(entered);
  if (more.length > 0 || made?.how !== "iterate" || !contains(loop.target, made.node)) return null;
  const over = iterated(loop.target, loop.iter, made.node, file);
  return over?.kind === "Name" ? listOf(over, file) : over && { name: null, value: over };
}

function listOf(name: Name, file: PythonFile): List | null {
  const made = file.scopes.reaching(name);
  // Of `if no_sync: contexts = … else: contexts = [nullcontext] * n` the first is asked about.
  const one = made.find(
    ({ how, value }) => how === "assign" && value && file.textOf(value).includes("no_sync"),
  );
  const value = one?.value ?? file.scopes.onlyValue(name);
  return value ? { name, value } : null;
}

/** What a target is taken from, through `enumerate` and `zip`. */
function iterated(target: Expr, iter: Expr, node: Node, file: PythonFile): Expr | null {
  if (target === node) return iter;
  if (target.kind !== "Tuple" || iter.kind !== "Call") return null;
  const at = target.items.findIndex((one) => contains(one, node));
  const by = file.dotted(iter.func);
  const over =
    by === "builtins.zip"
      ? iter.args[at]
      : by === "builtins.enumerate" && at === 1
        ? iter.args[0]
        : undefined;
  return over && over.star === 0 ? iterated(target.items[at]!, over.value, node, file) : null;
}

const unnegated = (test: Expr): Expr =>
  test.kind === "Unary" && test.op === "not" ? unnegated(test.operand) : test;

const isPlain = (test: Expr): boolean => unnegated(test) === test;

/** What `True` and `False` of a list come to. */
function flagged({ test, body, orelse }: Expr & { kind: "IfExp" }, file: PythonFile): Exchanges | null {
  const [yes, no] = [exchanged(body, file), exchanged(orelse, file)];
  return yes === null || no === null || yes === no ? null : (one) => isSet(one, isPlain(test) === yes);
}

const isSet = (one: Expr, set: boolean): boolean | null =>
  one.kind === "Const" && typeof one.value === "boolean" ? one.value === set : null;

/** Whether ranks exchange gradients under a context, or under what makes one. */
function exchanged(one: Expr, file: PythonFile): boolean | null {
  if (one.kind === "Name" && file.dotted(one) === null) {
    const value = file.scopes.onlyValue(one);
    return value && value.kind !== "Name" ? exchanged(value, file) : null;
  }
  const made = one.kind === "Call" ? one.func : one.kind === "Lambda" ? one.body : one;
  if (one.kind === "Lambda") return exchanged(made, file);
  const name = file.dotted(made) ?? "";
  if (/(?:^|\.)(?:nullcontext|ExitStack|suppress)$/.test(name)) return true;
  if (name === "functools.partial" && one.kind === "Call" && one.args[0])
    return exchanged(one.args[0].value, file);
  return made.kind === "Attribute" && made.attr === "no_sync" ? false : null;
}

function wrongWith(
  { name, value }: List,
  exchanges: Exchanges,
  loop: For,
  facts: Facts,
): Listed["wrong"] | null {
  const { file } = facts;
  const ends = endsOf(value, exchanges, file);
  if (!ends) return null;
  let { first, last } = ends;
  // `contexts[0] = nullcontext`, `contexts.append(nullcontext)`
  const made = name ? file.scopes.reaching(name).find((one) => one.value === value) : undefined;
  for (const use of made ? file.scopes.uses(made) : []) {
    if (use === name || contains(loop, use)) continue;
    const { parent } = use;
    if (parent?.kind === "Subscript" && parent.value === use) {
      const set = parent.parent;
      if (set?.kind !== "Assign" || !set.targets.includes(parent)) continue;
      const is = exchanges(set.value);
      const at = file.textOf(parent.index);
      if (is === null || !/^(?:0|-1)$/.test(at)) return null;
      if (at === "0") first = is;
      else last = is;
    } else if (parent?.kind === "Attribute" && parent.parent?.kind === "Call") {
      const call: Call = parent.parent;
      if (!/^(?:append|insert)$/.test(parent.attr)) return null;
      const given = call.args.at(-1)?.value;
      const is = given ? exchanges(given) : null;
      // `for _ in range(n - 1): contexts.append(net.no_sync)`
      const [own, ...around] = loopsAround(call);
      const [outer] = loopsAround(loop);
      if (is === null || (own !== outer && !(parent.attr === "append" && around[0] === outer))) return null;
      if (parent.attr === "append") last = is;
      else if (file.textOf(call.args[0]!.value) === "0") first = is;
      else return null;
    } else if (parent?.kind !== "Arg" || lastWord((parent.parent as Call).func) !== "len") return null;
  }
  if (last) return null;
  if (first) return "first";
  // Who takes the step later may have exchanged them by itself.
  return optimizerSteps(file).some(
    (step) => step.start > loop.end && functionOf(step) === functionOf(loop),
  ) && !/all_reduce|reduce_grad|sync_grad/.test(file.textOf(functionOf(loop) ?? file.tree.module))
    ? "never"
    : null;
}

function endsOf(expr: Expr, exchanges: Exchanges, file: PythonFile, depth = 0): Ends | null {
  if (depth > 4) return null;
  const again = (one: Expr): Ends | null => endsOf(one, exchanges, file, depth + 1);
  const both = (one: Expr | undefined): Ends | null => {
    const is = one ? exchanges(one) : null;
    return is === null ? null : { first: is, last: is };
  };
  switch (expr.kind) {
    case "List":
    case "Tuple": {
      const [begin, end] = [both(expr.items[0]), both(expr.items.at(-1))];
      return begin && end && { first: begin.first, last: end.last };
    }
    case "Comp": {
      const [clause, ...more] = expr.clauses;
      if (expr.flavour !== "list" || !clause || more.length > 0 || clause.tests.length > 0) return null;
      const { element } = expr;
      if (element.kind === "IfExp")
        return byIndex(element.test, exchanges(element.body), exchanges(element.orelse), clause, file);
      const [yes, no] = [exchanges(TRUE), exchanges(FALSE)];
      return both(element) ?? byIndex(element, yes, no, clause, file);
    }
    case "Binary": {
      if (expr.op === "*") return again(expr.left.kind === "List" ? expr.left : expr.right);
      const [left, right] = expr.op === "+" ? [again(expr.left), again(expr.right)] : [null, null];
      return left && right && { first: left.first, last: right.last };
    }
    case "Call": {
      const name = file.dotted(expr.func);
      const args = expr.args.map(({ value }) => value);
      if (name === "builtins.list" || name === "builtins.tuple") return args[0] ? again(args[0]) : null;
      if (name === "itertools.repeat") return both(args[0]);
      const [left, right] = name === "itertools.chain" ? [args[0], args.at(-1)] : [];
      const [a, b] = [left ? again(left) : null, right ? again(right) : null];
      return a && b && { first: a.first, last: b.last };
    }
    case "Name": {
      const value = file.scopes.onlyValue(expr);
      return value && again(value);
    }
    default:
      return null;
  }
}

/** What a comparison comes to. */
const TRUE: Expr = { kind: "Const", value: true, start: 0, end: 0, parent: null };
const FALSE: Expr = { kind: "Const", value: false, start: 0, end: 0, parent: null };

/** `[net.no_sync if i > 0 else nullcontext for i in range(n)]`, and `[i > 0 for i in range(n)]` of flags. */
function byIndex(
  test: Expr,
  yes: boolean | null,
  no: boolean | null,
  { target, iter }: Clause,
  file: PythonFile,
): Ends | null {
  if (yes === null || no === null || target.kind !== "Name" || iter.kind !== "Call") return null;
  if (file.dotted(iter.func) !== "builtins.range" || iter.args.length !== 1) return null;
  const asked = unnegated(test);
  const text = file.textOf(asked).replaceAll(" ", "");
  const is = target.id;
  // In the first turn, and in any other but that.
  const early = text === `${is}==0` || text === `${is}<1`;
  const late = text === is || text === `${is}>0` || text === `${is}!=0` || text === `${is}>=1`;
  if (!early && !late) return null;
  const inFirst = early === (asked === test);
  return { first: inFirst ? yes : no, last: inFirst ? no : yes };
}
