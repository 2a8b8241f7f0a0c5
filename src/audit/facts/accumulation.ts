import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";

/** What people call the number of micro-steps before a step. */
export const MICRO_STEPS = /accu?(?:m|_)|micro/i;

/** Under `step % args.accumulation_steps == 0`, where that is, or may well be, 1 unless someone asks for more: nothing accumulates. */
export function countsToOne(step: Node, loop: Node, file: PythonFile): boolean {
  for (const at of ancestors(step)) {
    if (at === loop) return false;
    if (at.kind !== "If") continue;
    let by: Expr | null = null;
    walk(at.test, (node) => {
      if (node.kind === "Binary" && node.op === "%") by = node.right;
    });
    if (by) return isOneByDefault(by, file);
  }
  return false;
}

/** A setting of which this file does not say that it is more than 1 by default, or a parameter that is 1. */
export function isOneByDefault(by: Expr, file: PythonFile): boolean {
  const name = by.kind === "Attribute" ? by.attr : by.kind === "Name" ? by.id : null;
  if (name === null) return false;
  const defaults = [
    ...file
      .callsNamed("add_argument")
      .filter((call) =>
        call.args.some(({ value }) => value.kind === "Str" && optionName(value.value) === name),
      )
      .map((call) => keyword(call, "default")?.value),
    ...file
      .all("Param")
      .filter((param) => param.name === name)
      .map((param) => param.default),
    ...file
      .all("Assign")
      .filter(
        ({ annotation, targets: [target] }) => annotation && target?.kind === "Name" && target.id === name,
      )
      .map(({ value }) => value),
  ].filter((value) => value !== null && value !== undefined);
  if (defaults.some((value) => value.kind === "Num" && value.text === "1")) return true;
  return by.kind === "Attribute" && defaults.length === 0;
}

function optionName(flag: string | null): string {
  return (flag ?? "").replace(/^-+/, "").replaceAll("-", "_");
}

/** `scale_grad(net, limit / grad_norm)` makes a norm fit, and divides by no number of micro-steps. */
const CLIPS = /scale_grad\w*\([^\n]*\/\s*\(?[\w.]*norm\b[^\n]*/g;

/** `p.grad.div_(n)`, `p.grad /= n` after the micro-steps. */
export function dividesGradients(text: string): boolean {
  return /scale_grad\w*\(|grad_scaler\(|\bgrads?\b[\w.]*\.(?:div_|mul_)\(|\.grad\s*[*/]=|_foreach_(?:div|mul)_\(|\.grad\s*=\s*[\w.]+\s*\//.test(
    text.replace(CLIPS, ""),
  );
}

/** Whether code divides a loss by the number of micro-steps, by that or by what may well be it. */
export function isDivided(quoted: string, asked: string): boolean {
  // `config["parts"]` here is `config['parts']` there.
  const [whole, count] = [quoted.replaceAll("'", '"'), asked.replaceAll("'", '"')];
  // `loss.item() / n` is for the log.
  const logged = whole.replace(/\.(?:item|detach|tolist)\(\)(?:\.\w+\(\))*\s*\/\s*[\w.]+/g, "");
  // A weighted mean, `(loss * weight).sum() / weight.sum()`: the weights are divided out again.
  const text = logged
    // `loss / float(config["parts"])`
    .replace(/\b(?:float|int)\(([^()]*)\)/g, "$1")
    .replace(
      /\*\s*(\w+)\)(?:\.(?:sum|mean)\([^()]*\))?\s*\/\s*(?:torch\.(?:sum|mean)\(\1\b|\(?\1\.(?:sum|mean)\()/g,
      "",
    );
  return (
    text.includes(`/ ${count}`) ||
    text.includes(`/${count}`) ||
    text.includes(`/= ${count}`) ||
    /\*=?\s*(?:\(?1(?:\.0)?\s*\/|\w*(?:scale|weight|inv|norm))/.test(text) ||
    // `loss.sum().mul(scaling / batch_total)`
    /\.(?:mul|div)_?\([^()]*(?:scal|total|size|accum|round|\/)/.test(text) ||
    /\/=?\s*[\w.]*(?:accum|grad_acc|n_acc|micro|iters_to|num_batch)\w*/i.test(text)
  );
}

/** `DistributedDataParallel(net)`: it reduces the gradients of every backward over all ranks. */
export function isReplicated(call: Call, file: PythonFile): boolean {
  return /^torch\.nn\.parallel\.(?:distributed\.)?DistributedDataParallel$/.test(
    file.dotted(call.func) ?? "",
  );
}

/** `len(loader)`: it is asked somewhere, or of what made the loader it can be. */
export function hasLength(over: Name, file: PythonFile): boolean {
  const made = file.scopes.reaching(over);
  return (
    file.text.includes(`len(${over.id})`) ||
    (made.length > 0 &&
      made.every(({ value }) => value?.kind === "Call" && /DataLoader$|^list$/.test(lastWord(value.func))))
  );
}
