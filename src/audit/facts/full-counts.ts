import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { countedTo, sinceLast } from "./step-throttles.ts";
import type { Loop } from "./training.ts";
import type { Condition } from "./turn-conditions.ts";

/** A loop over micro-batches, or a method that is called for each. */
export type Turn = Loop | FunctionDef;

/** What the optimizer steps by, and that in the words of the flag. */
interface FullTurn {
  readonly test: Expr;
  readonly turn: Condition;
}

/**
 * The turns in which a count is full that the optimizer steps by, in the words of the flag: `if i - last >= n:` of a `last` that
 * begins at -1, or `if seen == n:` of a `seen` that grows from 0, is `(i + 1) % n == 0`.
 */
export function fullTurn(step: Call, flag: Condition, loop: Turn, facts: Facts): FullTurn | null {
  const { file } = facts;
  const asked = flag.of.replace(/ [-+] \d+$/, "");
  const counter = turnCounter(loop, file);
  for (const at of ancestors(step)) {
    if (at === loop) return null;
    if (at.kind !== "If" || !at.body.some((one) => contains(one, step))) continue;
    const since = sinceLast(at.test, at, file);
    if (since) {
      const first = beginning(since.last, at, file);
      const isAsked =
        asked === file.textOf(since.count) || (asked === counter && isAhead(since.count, asked, file));
      if (first === null || !isAsked) return null;
      const turn = {
        of: first < 0 ? `${asked} + 1` : asked,
        by: file.textOf(since.by),
        is: "0",
        holds: true,
      };
      return { test: at.test, turn };
    }
    const by = countedTo(at.test, at, loop, facts);
    if (!by || at.test.kind !== "Compare") continue;
    const seen = at.test.left;
    const isFull =
      asked === counter && beginning(seen, at, file) === 0 && growsAbove(at, file.textOf(seen), loop, facts);
    return isFull
      ? { test: at.test, turn: { of: `${asked} + 1`, by: file.textOf(by), is: "0", holds: true } }
      : null;
  }
  return null;
}

/** `i` of `for i, x in enumerate(loader):` and of `for i in range(n):`, which counts turns from zero. */
function turnCounter(loop: Turn, file: PythonFile): string | null {
  if (loop.kind !== "For" || loop.iter.kind !== "Call" || loop.iter.args.length !== 1) return null;
  const name = file.dotted(loop.iter.func);
  if (name === "builtins.range") return file.textOf(loop.target);
  const [first] = loop.target.kind === "Tuple" ? loop.target.items : [];
  return name === "builtins.enumerate" && first ? file.textOf(first) : null;
}

/** `seen` of `seen = i + len(loader) * epoch`: as far in each epoch as `i`, and in the first the same. */
function isAhead(count: Expr, counter: string, file: PythonFile): boolean {
  const made = count.kind === "Name" ? file.scopes.onlyValue(count) : count;
  const sides = made?.kind === "Binary" && made.op === "+" ? [made.left, made.right] : [];
  return (
    sides.some((one) => file.textOf(one) === counter) &&
    sides.some((one) => one.kind === "Binary" && one.op === "*" && /\blen\(|epoch/.test(file.textOf(one)))
  );
}

/** The 0 or -1 that is written down for a count wherever it begins; null where it begins otherwise, or nobody sees it. */
export function beginning(count: Expr, branch: Node, file: PythonFile): number | null {
  const bound =
    count.kind === "Name"
      ? (file.scopes.lookup(count)?.definitions ?? [])
          .filter(({ how }) => how !== "augment")
          .map(({ how, node, value }) => ({ at: node, value: how === "assign" ? value : null }))
      : file
          .all("Assign")
          .filter(({ targets }) => targets.some((each) => file.textOf(each) === file.textOf(count)))
          .map((at) => ({ at, value: at.value }));
  const values = bound
    .filter(({ at }) => !contains(branch, at))
    .map(({ value }) => (value ? file.textOf(value) : ""));
  const [first] = values;
  return first !== undefined && /^(?:0|-1)$/.test(first) && values.every((one) => one === first)
    ? Number(first)
    : null;
}

/** `seen += 1` in every turn, before it is asked. */
function growsAbove(branch: Node, seen: string, loop: Turn, facts: Facts): boolean {
  const { file } = facts;
  const grows = file
    .all("AugAssign")
    .filter((one) => contains(loop, one) && file.textOf(one.target) === seen);
  const [one, ...more] = grows;
  return (
    one !== undefined &&
    more.length === 0 &&
    one.end <= branch.start &&
    one.op === "+" &&
    file.textOf(one.value) === "1" &&
    facts.frequency(one, loop) === "every"
  );
}
