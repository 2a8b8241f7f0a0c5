import { argument } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { derivesFromInput } from "../facts/flow.ts";
import type { Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM042",
    name: "constant-moved-in-forward",
    summary: "A tensor kept as a plain attribute is copied to the device in every forward",
    severity: "warning",
    fix: "unsafe",
    patterns: [42],
  },
  *check(facts) {
    for (const call of facts.file.callsNamed("to", "cuda", "type_as")) {
      if (call.func.kind !== "Attribute" || !/^(?:to|cuda|type_as)$/.test(call.func.attr)) continue;
      const source = call.func.value;
      const attribute = selfAttribute(source.kind === "Subscript" ? source.value : source);
      const cls = attribute === null ? null : classOf(call);
      if (!cls || !/^(?:module|lightning)$/.test(facts.role(cls)) || !facts.everyStep(call)) continue;
      const arg = argument(call, "device", 0);
      // A dtype is no transfer; what cannot be told from one is not reported.
      if (
        call.func.attr !== "cuda" &&
        !(
          arg &&
          (facts.isAccelerator(facts.device(arg)) ||
            (arg.kind === "Attribute" && arg.attr === "device") ||
            (arg.kind === "Name" && derivesFromInput(arg, facts) && !/dtype|device/.test(arg.id)))
        )
      )
        continue;
      const writes = attributesOf(cls, facts.file).get(attribute!)?.writes ?? [];
      const [write] = writes;
      if (writes.length !== 1 || write!.how !== "assign" || write!.in.name !== "__init__" || !write!.value)
        continue;
      const value = facts.value(write!.value);
      if (
        value.what !== "tensor" ||
        value.device !== "cpu" ||
        /Parameter\(/.test(facts.file.textOf(write!.value))
      )
        continue;
      // `self.x = self.x.to(device)` copies once and keeps the copy.
      if (
        call.parent?.kind === "Assign" &&
        call.parent.targets.some((target) => selfAttribute(target) === attribute)
      )
        continue;
      const fix = asBuffer(write!.target.parent, attribute!);
      yield {
        at: call,
        message: `\`self.${attribute}\` stays on the host when the module moves: every forward copies it again, and waits; register it as a buffer`,
        ...(fix ? { fix } : {}),
      };
    }
  },
};

function asBuffer(assign: Node | null, attribute: string): Fix | null {
  if (assign?.kind !== "Assign" || assign.targets.length !== 1) return null;
  const edits = [
    { start: assign.start, end: assign.value.start, text: `self.register_buffer("${attribute}", ` },
    { start: assign.value.end, end: assign.value.end, text: ", persistent=False)" },
  ];
  return { grade: "unsafe", title: "Register it as a buffer", edits };
}
