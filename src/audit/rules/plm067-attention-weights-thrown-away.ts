import { isTrue, keyword } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM067",
    name: "attention-weights-thrown-away",
    summary: "`nn.MultiheadAttention` computes its whole attention matrix and nobody reads it",
    severity: "warning",
    fix: "safe",
    patterns: [67],
  },
  *check(facts) {
    if (!facts.file.mentions("MultiheadAttention")) return;
    for (const call of facts.file.all("Call")) {
      const asked = keyword(call, "need_weights");
      if (
        !isAttention(call.func, facts) ||
        (asked && !isTrue(asked.value)) ||
        call.args.some((arg) => arg.star !== 0) ||
        call.args.filter((arg) => arg.name === null).length > 4
      )
        continue;
      if (!isThrownAway(call, facts)) continue;
      yield {
        at: call,
        message:
          "The attention weights are thrown away, but asking for them (the default) forces the path that builds and keeps the whole matrix",
        fix: {
          grade: "safe",
          title: "Ask for no weights",
          edits: asked
            ? [{ start: asked.value.start, end: asked.value.end, text: "False" }]
            : addKeyword(call, "need_weights=False", facts.file),
        },
      };
    }
  },
};

function isAttention(expr: Expr, facts: Facts): boolean {
  const made = (value: Expr | null): boolean =>
    value?.kind === "Call" &&
    /^torch\.nn\.(?:modules\.activation\.)?MultiheadAttention$/.test(facts.file.dotted(value.func) ?? "");
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    return writes.length > 0 && writes.every((write) => made(write.value));
  }
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value }) =>
        (how === "assign" && made(value)) ||
        (how === "iterate" && value !== null && isListOf(value, made, facts)),
    )
  );
}

/** `for attn in self.layers` over `nn.ModuleList([nn.MultiheadAttention(…) for …])`. */
function isListOf(expr: Expr, made: (value: Expr | null) => boolean, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ value }) => {
      const list = value?.kind === "Call" ? (value.args[0]?.value ?? null) : value;
      if (list?.kind === "Comp") return made(list.element);
      return list?.kind === "List" && list.items.length > 0 && list.items.every(made);
    })
  );
}

/** `attn(...)[0]`, or unpacked into a name that is never read. */
function isThrownAway(call: Call, facts: Facts): boolean {
  const parent = call.parent;
  if (parent?.kind === "Subscript" && parent.value === call)
    return parent.index.kind === "Num" && parent.index.text === "0";
  if (parent?.kind !== "Assign" || parent.value !== call || parent.targets.length !== 1) return false;
  const [target] = parent.targets;
  // Kept whole, and nothing but its first part is ever looked at.
  if (target?.kind === "Name") {
    const whole = facts.file.scopes.definitionAt(target);
    const uses = whole ? facts.file.scopes.uses(whole) : [];
    return (
      uses.length > 0 &&
      uses.every(
        ({ parent: at }) => at?.kind === "Subscript" && at.index.kind === "Num" && at.index.text === "0",
      )
    );
  }
  if (target?.kind !== "Tuple" || target.items.length !== 2) return false;
  const weights = target.items[1]!;
  if (weights.kind !== "Name") return false;
  const definition = facts.file.scopes.definitionAt(weights);
  return definition !== null && facts.file.scopes.uses(definition).length === 0;
}
