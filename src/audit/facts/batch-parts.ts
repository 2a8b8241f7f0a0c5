import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** What stands between the brackets of a call, with those of its own. */
export function insideOf({ func, end }: Call, file: PythonFile): string {
  const inside = file.text.slice(func.end, end).trim();
  return inside.slice(1, -1).replace(/,\s*$/, "").trim();
}

/** `loss.sum() / len(batch)`, in as many turns as the batch has parts: each adds its share of the mean over all samples. */
export function isDividedByWhole(turn: string, count: Expr, file: PythonFile): boolean {
  const whole = wholeOf(count, file);
  if (!whole) return false;
  const text = file.textOf(whole).replace(/[^\w\s]/g, "\\$&");
  return new RegExp(`(?<!/)/=?\\s*${text}(?![\\w.[])`).test(turn);
}

/** The samples that are cut into parts: `n` of `n // size`, of `(n - 1) // size + 1`, of `math.ceil(n / size)`. */
export function wholeOf(count: Expr, file: PythonFile): Expr | null {
  let at: Expr | null = count;
  let isCut = false;
  for (let steps = 0; at && steps < 8; steps++)
    if (!isCut && at.kind === "Name") at = file.scopes.onlyValue(at);
    else if (
      !isCut &&
      at.kind === "Call" &&
      /^(?:math\.ceil|builtins\.(?:int|round))$/.test(file.dotted(at.func) ?? "")
    )
      at = at.args[0]?.value ?? null;
    else if (at.kind === "Binary" && /^[-+]$/.test(at.op)) at = at.left;
    else if (at.kind === "Binary" && !isCut && /^\/\/?$/.test(at.op)) {
      isCut = true;
      at = at.left;
    } else break;
  return isCut ? at : null;
}

/** `splits = len(batch) // size`: into how many parts the loop around it cuts what it got. */
export function isPartsOf(count: Expr, loop: Loop, { file }: Facts): boolean {
  const made = count.kind === "Name" ? file.scopes.onlyValue(count) : count;
  const [around] = loopsAround(loop);
  return (
    made?.kind === "Binary" &&
    made.op === "//" &&
    /^len\(\w+\)$|\.(?:shape\[0\]|size\(0\))$/.test(file.textOf(made.left)) &&
    around !== undefined &&
    contains(around, made)
  );
}

/** `for at in range(0, len(batch), size)` */
export function stride(over: Call, { file }: Facts): Expr | null {
  return file.dotted(over.func) === "builtins.range" && over.args.length === 3 ? over : null;
}

/** The n of `accumulation_contexts(n, …)`, a generator of the program's own. */
export function namedCount(over: Call, { file }: Facts): Expr | null {
  return /accum|micro/i.test(file.textOf(over.func))
    ? (over.args.find(({ value }) => /accum|micro/i.test(file.textOf(value)))?.value ?? null)
    : null;
}

/** The n of `x.chunk(n)`, in a loop over that or over several such at once; of `x.split(size)` the call itself. */
export function chunkCount(over: Call, facts: Facts): Expr | null {
  const parts =
    facts.file.dotted(over.func) === "builtins.zip" ? over.args.map(({ value }) => value) : [over];
  for (const part of parts)
    if (
      part.kind === "Call" &&
      part.func.kind === "Attribute" &&
      /^(?:chunk|tensor_split)$/.test(part.func.attr)
    ) {
      const torch = /^torch\.(?:chunk|tensor_split)$/.test(facts.file.dotted(part.func) ?? "");
      return argument(part, "chunks", torch ? 1 : 0);
    } else if (
      part.kind === "Call" &&
      part.func.kind === "Attribute" &&
      part.func.attr === "split" &&
      facts.value(part.func.value).what === "tensor"
    )
      return part;
  return null;
}
