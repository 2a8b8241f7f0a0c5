import { ancestors } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

const SHOWS =
  /^(?:set_postfix|set_postfix_str|set_description|set_description_str|info|debug|warning|write)$/;

export const rule: Rule = {
  meta: {
    code: "PLM026",
    name: "tensor-printed-every-step",
    summary: "A device tensor is printed, formatted or shown on a progress bar on every step",
    severity: "warning",
    fix: "none",
    patterns: [26],
  },
  *check(facts) {
    for (const call of facts.file.all("Call")) {
      if (!isShown(call, facts)) continue;
      for (const arg of call.args)
        if (facts.onAccelerator(arg.value) && facts.everyStep(call))
          yield { at: arg.value, message: message(arg.value, facts) };
    }
    for (const text of facts.file.all("Str"))
      for (const part of text.parts)
        if (facts.onAccelerator(part) && facts.everyStep(text) && !isRaised(text))
          yield { at: part, message: message(part, facts) };
  },
};

function isShown(call: Call, facts: Facts): boolean {
  if (facts.file.dotted(call.func) === "builtins.print" || facts.file.dotted(call.func) === "builtins.str")
    return true;
  if (call.func.kind !== "Attribute" || !SHOWS.test(call.func.attr)) return false;
  return call.func.attr.startsWith("set_") || /log|tqdm|bar/i.test(facts.file.textOf(call.func.value));
}

/** Text made only when something fails. */
function isRaised(node: Node): boolean {
  for (const at of ancestors(node))
    if (at.kind === "Raise" || at.kind === "Assert" || at.kind === "Handler") return true;
  return false;
}

function message(expr: Expr, facts: Facts): string {
  const text = facts.file.textOf(expr).replace(/\s+/g, " ");
  return `To show \`${text.length > 40 ? `${text.slice(0, 37)}…` : text}\` the host waits on every step until the device has finished all queued work`;
}
