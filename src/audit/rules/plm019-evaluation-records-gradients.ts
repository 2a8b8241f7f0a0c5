import { walk } from "../../python/nodes.ts";
import type { Call, FunctionDef, Node } from "../../python/tree.ts";
import { decorate } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { lexicalGrad } from "../facts/gradmode.ts";
import { loopsAround } from "../facts/training.ts";
import { localName } from "../imports.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM019",
    name: "evaluation-records-gradients",
    summary: "A network in eval mode is run, or parameters are inspected, with gradients recorded for nobody",
    severity: "warning",
    fix: "safe",
    patterns: [19],
  },
  *check(facts) {
    for (const fn of facts.file.all("FunctionDef")) {
      const found = (facts.file.mentions(".eval(") ? evaluation(fn, facts) : null) ?? inspection(fn, facts);
      if (!found || usesGradients(fn, facts)) continue;
      const torch = localName(facts.file, "torch");
      yield {
        at: found.at,
        message: found.message,
        ...(found.severity ? { severity: found.severity } : {}),
        fix: {
          grade: "safe",
          title: "Decorate with torch.no_grad()",
          edits: decorate(fn, `${torch ?? "torch"}.no_grad()`, facts.file),
          ...(torch === null ? { imports: ["import torch"] } : {}),
        },
      };
    }
  },
};

/** `model.eval()` and, after it, `model(...)` in a loop, in one function. */
function evaluation(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity?: "note" } | null {
  const modes = new Map<string, { eval: number; train: number }>();
  const calls: Call[] = [];
  walk(fn, (node) => {
    if (node !== fn && (node.kind === "FunctionDef" || node.kind === "ClassDef" || node.kind === "Lambda"))
      return false;
    if (node.kind === "Call") {
      calls.push(node);
      if (
        node.func.kind === "Attribute" &&
        (node.func.attr === "eval" || node.func.attr === "train") &&
        node.args.length === 0
      ) {
        const text = facts.file.textOf(node.func.value);
        const entry = modes.get(text) ?? { eval: -1, train: -1 };
        if (entry[node.func.attr] < 0 || node.func.attr === "train") entry[node.func.attr] = node.start;
        modes.set(text, entry);
      }
    }
    return true;
  });
  for (const call of calls) {
    const mode = modes.get(facts.file.textOf(call.func));
    if (
      !mode ||
      mode.eval < 0 ||
      call.start < mode.eval ||
      (mode.train > mode.eval && call.start > mode.train)
    )
      continue;
    if (loopsAround(call).length === 0 || unrecorded(call, facts)) continue;
    return {
      at: call.func,
      message: `\`${facts.file.textOf(call.func)}\` is in eval mode, yet each call records a graph and saves its activations`,
    };
  }
  return null;
}

/** A loop over modules or parameters that turns tensor expressions into numbers and nothing else. */
function inspection(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity: "note" } | null {
  if (facts.functionFacts(fn.body[0] ?? fn).hot !== null) return null;
  for (const loop of fn.body.flatMap((statement) => (statement.kind === "For" ? [statement] : []))) {
    const over = loop.iter.kind === "Call" && loop.iter.func.kind === "Attribute" ? loop.iter.func.attr : "";
    if (!/^(?:named_)?(?:modules|parameters)$/.test(over)) continue;
    let found: Call | null = null;
    walk(loop, (node) => {
      // Reading one stored element is no computation; arithmetic before the read is what records.
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        node.func.attr === "item" &&
        node.args.length === 0 &&
        computes(node.func.value) &&
        !unrecorded(node, facts)
      )
        found ??= node;
      return found === null;
    });
    if (found)
      return {
        at: found,
        severity: "note",
        message: "Parameters are only inspected here, yet every expression on them records a graph",
      };
  }
  return null;
}

function computes(node: Node): boolean {
  let found = false;
  walk(node, (inner) => {
    if (inner.kind === "Binary") found = true;
    if (
      inner.kind === "Attribute" &&
      (inner.attr === "detach" || inner.attr === "data" || inner.attr === "grad")
    )
      return false;
    return !found;
  });
  let base = node;
  while (base.kind === "Call" && base.func.kind === "Attribute") base = base.func.value;
  return found && !/\b(?:detach|data|grad)\b/.test(base.kind === "Attribute" ? base.attr : "");
}

function unrecorded(node: Node, facts: Facts): boolean {
  if (lexicalGrad(node, facts.file) === "unknown") return true;
  const mode = facts.gradMode(node);
  return mode === "off" || (mode === "unknown" && facts.functionFacts(node).callersGradOff !== "unknown");
}

/** Adversarial examples, saliency, tests of gradients: anything that needs the graph. */
function usesGradients(fn: FunctionDef, facts: Facts): boolean {
  if (facts.functionFacts(fn.body[0] ?? fn).reachesBackward) return true;
  return (
    /backward|autograd|requires_grad|enable_grad|\.grad\b|set_grad_enabled|create_graph|return_loss_for_training/.test(
      facts.file.textOf(fn),
    ) || fn.body.some((statement) => containsYield(statement))
  );
}

/** no_grad as a decorator of a generator covers each of its steps, but not what the caller does between them. */
function containsYield(node: Node): boolean {
  let found = false;
  walk(node, (inner) => {
    if (inner.kind === "Yield") found = true;
    return !found && inner.kind !== "FunctionDef" && inner.kind !== "Lambda";
  });
  return found;
}
