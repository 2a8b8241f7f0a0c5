import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isLikelyOutput, isSmall } from "./likely-outputs.ts";
import { puts } from "./likely-puts.ts";

/** What an evaluator is handed for each batch by a loop of another file, and keeps until all of it is asked for. */
export interface EvaluatorKeep {
  readonly root: Expr;
  readonly added: Expr;
}

/** `def process(self, inputs, outputs)` of an evaluator, and what others call it. */
const TAKES =
  /^(?:process|update|add|add_batch|process_batch|update_state|collect|accumulate|forward|__call__)$/;
/** `def evaluate(self)`: what all of it comes to. */
const ENDS =
  /^(?:evaluate|compute|compute_metrics?|get_(?:value|results?|metrics?|scores?)|summari[sz]e|finali[sz]e)$/;
/** What only judges, by its name. */
const JUDGE = /Eval|Metric|Score|Accuracy|Recall|Precision|FID|mAP/;

/**
 * `self.features.append(outputs)` in the `process` of an evaluator that begins the list in its `reset` and joins it in its `evaluate`.
 * What is turned into an array there without a copy to the host was there already.
 */
export function* keptByEvaluators(facts: Facts): Generator<EvaluatorKeep> {
  const { file } = facts;
  if (!file.says(/def (?:evaluate|compute|get_|summari|finali)/)) return;
  for (const { root, added } of puts(facts)) {
    const own = selfAttribute(root);
    const cls = own === null ? null : classOf(root);
    const fn = functionOf(root);
    if (!cls || fn?.kind !== "FunctionDef" || !TAKES.test(fn.name) || !JUDGE.test(cls.name)) continue;
    if (!isBegunAsList(own!, cls, file) || isSmall(added, file)) continue;
    const ends = methodsOf(cls).filter(({ name }) => ENDS.test(name));
    if (!ends.some((end) => isJoinedIn(end, own!, file))) continue;
    if (isLikelyOutput(added, facts)) yield { root, added };
  }
}

function isBegunAsList(own: string, cls: ClassDef, file: PythonFile): boolean {
  const writes = attributesOf(cls, file).get(own)?.writes ?? [];
  const begun = writes.filter(({ how }) => how === "assign");
  return begun.length > 0 && begun.every(({ value }) => value?.kind === "List" && value.items.length === 0);
}

/** Joined on the device: as a tensor, and brought to the host before it is an array. */
function isJoinedIn(end: FunctionDef, own: string, file: PythonFile): boolean {
  const code = file.codeOf(end);
  if (!new RegExp(`\\bself\\.${own}\\b`).test(code) || !/\btorch\.(?:cat|stack|concat|vstack)\(/.test(code))
    return false;
  return !/(?<!\bcpu\(\))\.numpy\(/.test(code) && !/\bnp\.(?:concatenate|v?stack|array)\(/.test(code);
}
