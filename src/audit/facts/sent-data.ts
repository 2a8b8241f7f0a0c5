import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Expr } from "../../python/tree.ts";
import { METHODS } from "./torch-names.ts";

/** Of what is sent to a device, and of which nothing else is known: whether it is data that a step computes with. */

/** Methods that bring the next batch, or draw something for it: `labeled_iter.next()`, `diffusion.sample_timesteps(n)`. */
const BRINGS = /^(?:next|__next__|next_batch|get_batch|sample_(?:timesteps?|times?|noise|batch|indices))$/;

/** What a function that is handed a batch calls it. */
const BATCHES =
  /^(?:\w*_)?(?:batch|minibatch|rollouts?|samples?|transitions?|examples?|inputs?|images?|targets?|labels?|data)$/;

/** What a loop over batches hands out, or a part of it. */
export function isData(expr: Expr, file: PythonFile, depth = 0): boolean {
  const again = (inner: Expr): boolean => isData(inner, file, depth + 1);
  if (depth > 6) return false;
  // `dataset[0].to(device)`
  if (expr.kind === "Subscript")
    return (expr.value.kind === "Name" && /data_?set$/i.test(expr.value.id)) || again(expr.value);
  // `encoded.input_ids`
  if (expr.kind === "Attribute") return expr.attr === "input_ids" || expr.attr === "pixel_values";
  if (expr.kind === "Call") {
    // `tokenizer(texts, return_tensors="pt")`
    if (keyword(expr, "return_tensors")) return true;
    if (expr.func.kind !== "Attribute") return file.dotted(expr.func) === "builtins.next";
    const { attr, value } = expr.func;
    return BRINGS.test(attr) || (METHODS.has(attr) && again(value));
  }
  if (expr.kind !== "Name") return false;
  const definitions = file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value, index }) =>
        (how === "iterate" &&
          value !== null &&
          !/modules|children|layers|blocks|models|parameters/.test(file.textOf(value))) ||
        (how === "param" && BATCHES.test(expr.id)) ||
        (how === "assign" && value !== null && again(value)) ||
        (how === "unpack" &&
          value !== null &&
          again(value.kind === "Tuple" && index !== null ? (value.items[index] ?? value) : value)),
    )
  );
}
