import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Expr, For, FunctionDef, Node } from "../../python/tree.ts";
import type { Turn } from "./full-counts.ts";
import { skipsAbove } from "./turns.ts";

/** As many micro-batches as one step is taken to have, by whatever name that number goes. */
export const WINDOW = 4;

/** More turns than are tried: how long a loader is. */
const MANY = 1000;

/** Words of a test that ask how a run was started, and hold for all of it. */
const OF_RUN = /ddp|dist|world|rank|gpu|parallel|fp16|amp\b|scaler|isinstance|hasattr|debug|train(?:ing)?$/i;

/**
 * What tests come to in the first turns of a loop, or of calls of a method, found by computing them: a counter has got to so many, and
 * whatever else is a number there is how many turns a step has. Null where something cannot be computed.
 */
export class Reckoned {
  readonly #turn: Turn;
  readonly #file: PythonFile;
  /** How long what is gone through is. */
  readonly #length: number;
  readonly #grows: ReadonlyMap<string, readonly Node[]>;

  constructor(turn: Turn, file: PythonFile, length = MANY) {
    this.#turn = turn;
    this.#file = file;
    this.#length = length;
    const grows = new Map<string, Node[]>();
    for (const one of file.all("AugAssign")) {
      if (one.op !== "+" || one.value.kind !== "Num" || one.value.text !== "1") continue;
      const text = file.textOf(one.target);
      grows.set(text, [...(grows.get(text) ?? []), one]);
    }
    this.#grows = grows;
  }

  /** Whether all that a statement stands under in its turn lets it run; what asks how the run was started does. */
  runs(node: Node, turn: number): boolean | null {
    let runs = true;
    const ask = (test: Expr, when: boolean): boolean => {
      const holds = this.holds(test, turn);
      if (holds === null) return OF_RUN.test(this.#file.textOf(test)) || !this.#varies(test);
      runs &&= holds === when;
      return true;
    };
    for (let child = node, at = node.parent; at && child !== this.#turn; child = at, at = at.parent) {
      for (const skipped of skipsAbove(child)) if (!ask(skipped.test, false)) return null;
      if (at.kind === "If" && child !== at.test && !ask(at.test, !at.orelse.includes(child as never)))
        return null;
      if (at.kind === "Handler") return null;
    }
    return runs;
  }

  holds(test: Expr, turn: number, depth = 0): boolean | null {
    if (depth > 8) return null;
    const again = (expr: Expr): boolean | null => this.holds(expr, turn, depth + 1);
    switch (test.kind) {
      case "Const":
        return typeof test.value === "boolean" ? test.value : null;
      case "Unary": {
        const of = test.op === "not" ? again(test.operand) : null;
        return of === null ? null : !of;
      }
      case "Name": {
        const value = this.#file.scopes.onlyValue(test);
        return value && again(value);
      }
      case "IfExp": {
        const asked = again(test.test);
        return asked === null ? null : again(asked ? test.body : test.orelse);
      }
      case "Bool": {
        const known = test.values.map(again).filter((one) => one !== null);
        if (known.length === 0) return null;
        return test.op === "and" ? known.every(Boolean) : known.some(Boolean);
      }
      case "Call":
        return this.#file.dotted(test.func) === "builtins.bool" && test.args.length === 1
          ? again(test.args[0]!.value)
          : null;
      case "Compare": {
        const [a, b] = [this.#number(test.left, turn), this.#number(test.rights[0]!, turn)];
        if (a === null || b === null || test.rights.length !== 1 || !this.#counts(test)) return null;
        const asked = { "==": a === b, "!=": a !== b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b };
        return asked[test.ops[0] as keyof typeof asked] ?? null;
      }
      default: {
        const value = test.kind === "Binary" && test.op === "%" ? this.#number(test, turn) : null;
        return value === null ? null : value !== 0;
      }
    }
  }

  /** Whether what a test asks may have been given another value in the turn. */
  #varies(test: Expr): boolean {
    const { scopes } = this.#file;
    return namesIn(test).some((name) => scopes.reaching(name).some(({ node }) => contains(this.#turn, node)));
  }

  /** Whether anything in a test is another number in each turn. */
  #counts(test: Expr, depth = 0): boolean {
    if (depth > 6) return false;
    const again = (expr: Expr): boolean => this.#counts(expr, depth + 1);
    if (this.#counter(test, 0) !== null) return true;
    if (test.kind === "Name") {
      const value = this.#file.scopes.onlyValue(test);
      return value !== null && again(value);
    }
    if (test.kind === "Binary") return again(test.left) || again(test.right);
    if (test.kind === "Compare") return again(test.left) || test.rights.some(again);
    if (test.kind === "Bool") return test.values.some(again);
    if (test.kind === "Unary") return again(test.operand);
    return test.kind === "IfExp" && again(test.test);
  }

  /** How far a counter has got where it is asked. */
  #counter(expr: Expr, at: number): number | null {
    const file = this.#file;
    const turn = this.#turn;
    const text = file.textOf(expr);
    const from = turn.kind === "For" ? this.#countedBy(turn, text) : null;
    if (from !== null) return from + at;
    if (expr.kind !== "Name" && expr.kind !== "Attribute") return null;
    const grows = (this.#grows.get(text) ?? []).filter(
      (one) => expr.kind === "Attribute" || functionOf(one) === functionOf(expr),
    );
    const inside = grows.filter((one) => contains(turn, one));
    if (inside.length > 1) return null;
    if (inside.length === 0)
      return turn.kind === "FunctionDef" && (grows.length > 0 || isNumberOfTurn(expr, turn)) ? at : null;
    // What begins again once it is full has seen so many turns of this step.
    const seen = this.#begins(expr, text) + at;
    return (this.#isReset(text) ? seen % WINDOW : seen) + (inside[0]!.end <= expr.start ? 1 : 0);
  }

  /** Where `i` of `for i, x in enumerate(loader, 1):` begins, or of `for i in range(n):`, if that is what is asked for. */
  #countedBy({ iter, target }: For, text: string): number | null {
    const file = this.#file;
    if (iter.kind !== "Call") return null;
    const enumerates = file.dotted(iter.func) === "builtins.enumerate";
    if (!enumerates && !file.textOf(iter.func).endsWith("range")) return null;
    const counts = enumerates && target.kind === "Tuple" ? target.items[0]! : target;
    if (file.textOf(counts) !== text) return null;
    const first = enumerates ? positional(iter, 1) : positional(iter, 0);
    const from = enumerates ? (keyword(iter, "start")?.value ?? first) : iter.args.length > 1 ? first : null;
    return from?.kind === "Num" ? Number(from.text) : 0;
  }

  /** `seen = 0` in a turn. */
  #isReset(text: string): boolean {
    return this.#file
      .all("Assign")
      .some(
        (one) => contains(this.#turn, one) && one.targets.some((each) => this.#file.textOf(each) === text),
      );
  }

  #begins(expr: Expr, text: string): number {
    const first = this.#file
      .all("Assign")
      .find(
        (one) =>
          one.value.kind === "Num" &&
          one.targets.some((each) => this.#file.textOf(each) === text) &&
          (expr.kind === "Attribute" || functionOf(one) === functionOf(expr)),
      );
    const value = first?.value.kind === "Num" ? Number(first.value.text) : 0;
    return Number.isInteger(value) ? value : 0;
  }

  #number(expr: Expr, turn: number, depth = 0): number | null {
    if (depth > 8) return null;
    const again = (inner: Expr): number | null => this.#number(inner, turn, depth + 1);
    if (expr.kind === "Num") return /^\d+$/.test(expr.text) ? Number(expr.text) : null;
    if (expr.kind === "Binary") {
      const [a, b] = [again(expr.left), again(expr.right)];
      return a === null || b === null ? null : arithmetic(expr.op, a, b);
    }
    const counted = this.#counter(expr, turn);
    if (counted !== null) return counted;
    if (expr.kind === "Call") {
      const name = this.#file.dotted(expr.func);
      if (name === "builtins.len") return this.#length;
      return name === "builtins.int" && expr.args[0] ? again(expr.args[0].value) : null;
    }
    if (expr.kind === "Name") {
      const value = this.#file.scopes.onlyValue(expr);
      if (value && value.kind !== "Num" && this.#counts(value)) return again(value);
      const bound = this.#file.scopes.reaching(expr);
      if (bound.some(({ node, how }) => how !== "param" && contains(this.#turn, node))) return null;
      // A count of a loop further out is not how many turns a step has.
      if (bound.some(({ how }) => how === "augment" || how === "iterate")) return null;
      return value?.kind === "Call" && this.#file.dotted(value.func) === "builtins.len"
        ? this.#length
        : WINDOW;
    }
    if (expr.kind === "Attribute" && this.#grows.has(this.#file.textOf(expr))) return null;
    return expr.kind === "Attribute" || expr.kind === "Subscript" ? WINDOW : null;
  }
}

/** `batch_idx` of `def training_step(self, batch, batch_idx):` */
function isNumberOfTurn(expr: Expr, fn: FunctionDef): boolean {
  return (
    expr.kind === "Name" &&
    /(?:^|_)(?:i|it|idx|index|step|iter|iteration|micro_step|batch_id)$/.test(expr.id) &&
    fn.params.some(({ name }) => name === expr.id)
  );
}

function arithmetic(op: string, a: number, b: number): number | null {
  switch (op) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "//":
      return b > 0 ? Math.floor(a / b) : null;
    case "%":
      return b > 0 ? ((a % b) + b) % b : null;
    default:
      return null;
  }
}
