import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Compare, Expr, For } from "../../python/tree.ts";

/** What a test comes to in one turn, and whether that needed to leave out what nobody can compute. */
export interface Outcome {
  readonly holds: boolean;
  readonly whole: boolean;
}

/** As many turns as are tried: of fewer than three, the first, the last and the one between are not told apart. */
const TRIED = [3, 5, 8];

/**
 * Whether a test holds in the last turn of a loop, found by computing it: of `i < n` in `for i in range(n):` it does, of
 * `i + 1 < n` it does not. What is asked beside the count, `distributed and i < n`, is left out. Null where it cannot be computed,
 * or is not the same for all numbers of turns.
 */
export function holdsInLast(test: Expr, loop: For, file: PythonFile): Outcome | null {
  const found = TRIED.map((turns) => {
    const known = lastTurn(loop, turns, file);
    return known && outcome(test, known, file, 0);
  });
  const [first] = found;
  return first && found.every((one) => one?.holds === first.holds) ? first : null;
}

/** Texts that stand for a number in the last turn: the counter, and what the number of turns is called. */
type Known = ReadonlyMap<string, number>;

function lastTurn({ iter, target }: For, turns: number, file: PythonFile): Known | null {
  if (iter.kind !== "Call" || iter.args.some(({ star }) => star !== 0)) return null;
  const name = file.dotted(iter.func);
  const [first, second] = [positional(iter, 0), positional(iter, 1)];
  if (name === "builtins.enumerate" && target.kind === "Tuple" && first) {
    const from = keyword(iter, "start")?.value ?? second;
    const begin = from ? number(from, new Map(), file) : 0;
    const [counter] = target.items;
    if (begin === null || !counter) return null;
    return new Map([
      [file.textOf(counter), begin + turns - 1],
      [`len(${file.textOf(first)})`, turns],
    ]);
  }
  if (name !== "builtins.range" || !first || target.kind !== "Name") return null;
  const stride = positional(iter, 2);
  if (stride) return lastPart(first, second!, stride, turns, target.id, file);
  const stop = second ?? first;
  const count = counted(stop);
  // Of `range((size - 1) // part + 1)` the first turn is still not the last.
  if (!count) return second ? null : new Map([[target.id, turns - 1]]);
  const known = new Map([[file.textOf(count), turns]]);
  const end = number(stop, known, file);
  return end === null ? null : known.set(target.id, end - 1);
}

/** As many as a part has where its number is known by name only. */
const IN_PART = 4;

/** The last of `range(0, len(batch), part)`, of a batch that is cut into equal parts. */
function lastPart(
  begin: Expr,
  stop: Expr,
  part: Expr,
  turns: number,
  counter: string,
  file: PythonFile,
): Known | null {
  const isNamed = (expr: Expr): boolean => expr.kind !== "Num" && counted(expr) === expr;
  if (begin.kind !== "Num" || begin.text !== "0" || !isNamed(stop) || !isNamed(part)) return null;
  return new Map([
    [file.textOf(stop), turns * IN_PART],
    [file.textOf(part), IN_PART],
    [counter, (turns - 1) * IN_PART],
  ]);
}

/** `n` of `range(n)` and of `range(1, n + 1)`. */
function counted(stop: Expr): Expr | null {
  if (stop.kind === "Name" || stop.kind === "Attribute" || stop.kind === "Subscript" || stop.kind === "Call")
    return stop;
  return stop.kind === "Binary" && /^[-+]$/.test(stop.op) && stop.right.kind === "Num"
    ? counted(stop.left)
    : null;
}

function outcome(test: Expr, known: Known, file: PythonFile, depth: number): Outcome | null {
  if (depth > 6) return null;
  const again = (expr: Expr): Outcome | null => outcome(expr, known, file, depth + 1);
  switch (test.kind) {
    case "Unary": {
      const of = test.op === "not" ? again(test.operand) : null;
      return of && { ...of, holds: !of.holds };
    }
    case "Name": {
      const value = file.scopes.onlyValue(test);
      return value && again(value);
    }
    case "Bool": {
      const all = test.values.map(again);
      const computed = all.filter((one) => one !== null);
      if (computed.length === 0) return null;
      const holds =
        test.op === "and" ? computed.every((one) => one.holds) : computed.some((one) => one.holds);
      return { holds, whole: computed.length === all.length && computed.every(({ whole }) => whole) };
    }
    case "Compare":
      return compared(test, known, file);
    default:
      return null;
  }
}

function compared({ left, ops, rights }: Compare, known: Known, file: PythonFile): Outcome | null {
  const [right, ...more] = rights;
  // `i == 3` is asked by someone who knows how many turns there are.
  if ([left, right].some((side) => side?.kind === "Num" && side.text !== "0")) return null;
  const [a, b] = [number(left, known, file), right ? number(right, known, file) : null];
  if (a === null || b === null || more.length > 0) return null;
  const holds = { "==": a === b, "!=": a !== b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b }[ops[0]!];
  return holds === undefined ? null : { holds, whole: true };
}

function number(expr: Expr, known: Known, file: PythonFile, depth = 0): number | null {
  const given = known.get(file.textOf(expr));
  if (given !== undefined) return given;
  if (depth > 6) return null;
  const again = (inner: Expr): number | null => number(inner, known, file, depth + 1);
  if (expr.kind === "Num") return /^\d+$/.test(expr.text) ? Number(expr.text) : null;
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value && again(value);
  }
  if (expr.kind !== "Binary") return null;
  // How many turns there are says nothing of `i % 10`.
  if (/^(?:%|\/\/)$/.test(expr.op) && expr.right.kind === "Num") return null;
  const [a, b] = [again(expr.left), again(expr.right)];
  if (a === null || b === null) return null;
  switch (expr.op) {
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
