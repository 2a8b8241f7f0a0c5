import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { callTarget } from "./summary.ts";

/** A test as `of % by == is`, or its opposite. */
export interface Condition {
  readonly of: string;
  readonly by: string;
  readonly is: string;
  readonly holds: boolean;
}

export function show({ of, by, is, holds }: Condition): string {
  const asked = by === "" ? of : `${/^[\w.]+$/.test(of) ? of : `(${of})`} % ${by}`;
  return `${asked} ${holds ? "==" : "!="} ${is}`;
}

/** Whether there is more than one process at all. */
const OF_RANKS =
  /^(?:[\w.]*(?:ddp|dist(?:ributed)?|parallel|multi_gpu)\w*(?: (?:in|==) [[("'\w][^()]*)?|[\w.]*(?:local_)?rank (?:!=|>=?) -?[01]|[\w.]*(?:world_size|n_?gpus?|num_gpus|(?:num_|n_?)proc(?:esse)?s)(?:\(\))? > 1|hasattr\([^()]*no_sync[^()]*\)|[\w.]*is_initialized\(\))$/i;

/** `not distributed`, `world_size == 1`, `accumulate <= 1`: of a run in which there is nothing to put off. */
export function isOfRanks(test: Expr, file: PythonFile): boolean {
  const asked = test.kind === "Unary" && test.op === "not" ? test.operand : test;
  return OF_RANKS.test(file.textOf(asked)) || /^[\w.]+(?:\(\))? (?:==|<=) 1$/.test(file.textOf(test).trim());
}

/** What a test asks of a count, by whatever name; null where it asks something else. `when`: that it is true. */
export function condition(
  expr: Expr,
  when: boolean,
  facts: Pick<Facts, "file">,
  depth = 0,
): Condition | null {
  if (depth > 4) return null;
  if (expr.kind === "Unary" && expr.op === "not") return condition(expr.operand, !when, facts, depth + 1);
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    return value ? condition(value, when, facts, depth + 1) : null;
  }
  if (expr.kind === "Call") return conditionOf(expr, when, facts, depth);
  // `(i + 1) % n == 0 or i + 1 == len(loader)`: the first is what repeats.
  if (expr.kind === "Bool" && expr.op === "or" && when) {
    // `not distributed or i % n == 0`: with one process there is nothing to exchange.
    const [first, second] = expr.values;
    const alone =
      first!.kind === "Unary" && first!.op === "not" && OF_RANKS.test(facts.file.textOf(first!.operand));
    return condition(alone ? second! : first!, when, facts, depth + 1);
  }
  // `no_sync() if distributed and not last else …`: what is asked beside that.
  if (expr.kind === "Bool" && expr.op === "and" && !when) {
    const [asked, ...more] = expr.values.filter((one) => !OF_RANKS.test(facts.file.textOf(one)));
    return asked && more.length === 0 ? condition(asked, when, facts, depth + 1) : null;
  }
  const [right] = expr.kind === "Compare" ? expr.rights : [];
  if (expr.kind !== "Compare" || expr.rights.length !== 1 || !right) return null;
  // Of what counts from zero, `i > 0` is `i != 0`.
  const positive = expr.ops[0] === ">" && right.kind === "Num" && right.text === "0";
  if (!/^(?:==|!=)$/.test(expr.ops[0]!) && !positive) return null;
  const holds = (expr.ops[0] === "==") === when;
  const bare = (node: Expr): string => spaced(facts.file.textOf(node));
  const { left } = expr;
  if (left.kind === "Binary" && left.op === "%")
    return sameForm({ of: bare(left.left), by: bare(left.right), is: bare(right), holds });
  return { of: bare(left), by: "", is: bare(right), holds };
}

/** All spaced alike, without parentheses around. */
function spaced(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/(?<=[\w)\]]) ?([-+%]) ?/g, " $1 ")
    .replace(/^\((.*)\)$/, "$1");
}

/** `is_last(step, n)`, a function of this file that only asks: in the words of whoever calls it. */
function conditionOf(call: Call, when: boolean, facts: Pick<Facts, "file">, depth: number): Condition | null {
  const { file } = facts;
  const name = callTarget(call, file);
  if (name === null || !name.startsWith(`${file.module}.`)) return null;
  const fn = file.functionNamed(name);
  const asked = fn?.body[fn.body.length - 1];
  const only = fn?.body.length === 1 || (fn?.body.length === 2 && fn.body[0]!.kind === "ExprStmt");
  if (!fn || !only || asked?.kind !== "Return" || !asked.value) return null;
  const inside = condition(asked.value, when, facts, depth + 1);
  return inside ? inWordsOf(call, namesOf(fn), inside, file) : null;
}

export const namesOf = ({ params }: FunctionDef): readonly string[] => params.map(({ name }) => name);

/** What a function asks of its parameters, of what a call gives it for them. */
export function inWordsOf(
  call: Call,
  params: readonly string[],
  inside: Condition,
  file: PythonFile,
): Condition {
  const shift = params[0] === "self" ? 1 : 0;
  const told = new Map(
    call.args.flatMap(({ name: key, star, value }, at) => {
      const param = key ?? params[at + shift];
      return star === 0 && param !== undefined ? [[param, spaced(file.textOf(value))] as const] : [];
    }),
  );
  const inWords = (text: string): string =>
    text.replace(/(?<![\w.])[A-Za-z_]\w*/g, (word) => told.get(word) ?? word);
  return sameForm({ ...inside, of: inWords(inside.of), by: inWords(inside.by), is: inWords(inside.is) });
}

/** `i % n == n - 1` is `(i + 1) % n == 0`, and `i - 1 + 1` is `i`. */
function sameForm(one: Condition): Condition {
  const of = one.of
    .replace(/^1 \+ (.+)$/, "$1 + 1")
    .replace(/ ([-+]) (\d+) ([-+]) (\d+)$/, (_, first: string, a: string, second: string, b: string) => {
      const sum = Number(first + a) + Number(second + b);
      return sum === 0 ? "" : ` ${sum < 0 ? "-" : "+"} ${Math.abs(sum)}`;
    });
  return one.is === `${one.by} - 1` ? { ...one, of: `${of} + 1`, is: "0" } : { ...one, of };
}
