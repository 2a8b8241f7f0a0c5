import { walk } from "../../python/nodes.ts";
import type { Call, ClassDef, FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM040",
    name: "dataset-preprocessed-at-once",
    summary: "A Dataset processes and keeps every example when it is constructed",
    severity: "note",
    fix: "none",
    patterns: [40],
  },
  *check(facts) {
    if (!/Dataset/.test(facts.file.text)) return;
    for (const cls of facts.file.all("ClassDef")) {
      if (facts.role(cls) !== "dataset") continue;
      const methods = methodsOf(cls);
      const init = methods.find((method) => method.name === "__init__");
      if (!init) continue;
      const reached = [init, ...calledBy(init, cls)];
      for (const method of reached) yield* appends(method, facts);
    }
  },
};

/** `self.prepare()` of the constructor, one call deep, when nothing decides about it. */
function calledBy(init: FunctionDef, cls: ClassDef): FunctionDef[] {
  const names = new Set<string>();
  for (const statement of init.body)
    if (statement.kind !== "If")
      walk(statement, (node) => {
        if (node.kind === "Call" && selfAttribute(node.func) !== null) names.add(selfAttribute(node.func)!);
      });
  return methodsOf(cls).filter((method) => names.has(method.name) && !method.name.startsWith("__"));
}

function* appends(method: FunctionDef, facts: Facts): Generator<{ at: Call; message: string }> {
  for (const statement of method.body) {
    if (statement.kind !== "For") continue;
    const calls: Call[] = [];
    let works = false;
    walk(statement, (node) => {
      if (node.kind !== "Call") return;
      if (node.func.kind === "Attribute" && node.func.attr === "append" && node.parent?.kind === "ExprStmt")
        calls.push(node);
      // What makes it expensive: a tokenizer, an image, a tensor for each example.
      else if (
        /tokeniz|process|transform|Image\.open|imread|encode|torch\.tensor|load_image|torchaudio|np\.load|numpy\.load/i.test(
          facts.file.dotted(node.func) ?? facts.file.textOf(node.func).slice(0, 80),
        )
      )
        works = true;
    });
    if (works && calls[0])
      yield {
        at: calls[0],
        message:
          "Every example is processed and kept in host memory before the first step, once in each worker that copies it; do it in `__getitem__`",
      };
  }
}
