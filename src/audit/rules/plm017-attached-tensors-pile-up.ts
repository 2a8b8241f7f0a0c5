import { positional } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Node } from "../../python/tree.ts";
import { appendCall } from "../edits.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFromInput } from "../facts/flow.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM017",
    name: "attached-tensors-pile-up",
    summary: "Tensors with their graphs are appended to a list on self that is never emptied",
    severity: "error",
    fix: "unsafe",
    patterns: [17],
  },
  *check(facts) {
    if (!/append\(/.test(facts.file.text)) return;
    for (const call of facts.file.all("Call")) {
      if (call.func.kind !== "Attribute" || call.func.attr !== "append" || call.args.length !== 1) continue;
      const list: Node = call.func.value;
      const attribute = selfAttribute(call.func.value);
      const cls = attribute === null ? null : classOf(call);
      const added = positional(call, 0);
      if (!cls || !added || facts.gradMode(call) === "off" || !facts.hot(call)) continue;
      const writes = attributesOf(cls, facts.file).get(attribute!)?.writes ?? [];
      // A list made once; a bounded deque, or one renewed elsewhere, is no pile.
      if (writes.length !== 1 || writes[0]!.in.name !== "__init__" || writes[0]!.value?.kind !== "List")
        continue;
      if (facts.value(added).graph !== "yes" && !(isModule(call, facts) && computesFromInput(added, facts)))
        continue;
      const others = facts.file
        .all("Attribute")
        .filter((node) => node.attr === attribute && node !== list && !isWrite(node));
      if (!others.every((node) => isHarmless(node, facts))) continue;
      yield {
        at: call,
        message: `\`self.${attribute}\` gets one more tensor with its graph each time and is never emptied: memory grows until it runs out`,
        fix: { grade: "unsafe", title: "Detach what is appended", edits: appendCall(added, ".detach()") },
      };
    }
  },
};

function isModule(call: Node, facts: Facts): boolean {
  const cls = classOf(call);
  return cls !== null && /^(?:module|lightning)$/.test(facts.role(cls));
}

function computesFromInput(added: Parameters<typeof derivesFromInput>[0], facts: Facts): boolean {
  return added.kind !== "Tuple" && added.kind !== "Dict" && derivesFromInput(added, facts);
}

function isWrite(node: Node): boolean {
  return node.parent?.kind === "Assign" && node.parent.targets.includes(node as never);
}

/** Another append, or `len(...)`: nothing that empties the list, or needs its graphs. */
function isHarmless(node: Node, facts: Facts): boolean {
  const { parent } = node;
  if (parent?.kind === "Attribute") return parent.attr === "append";
  return (
    parent?.kind === "Arg" &&
    parent.parent?.kind === "Call" &&
    facts.file.dotted(parent.parent.func) === "builtins.len"
  );
}
