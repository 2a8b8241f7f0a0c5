import { walk } from "../../python/nodes.ts";
import type { Call, Handler, Try } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM010",
    name: "retry-inside-except",
    summary:
      "Work is tried again inside the `except` of an out-of-memory error, while the failed attempt is still alive",
    severity: "warning",
    fix: "none",
    patterns: [10],
  },
  *check(facts) {
    if (!/except/.test(facts.file.text)) return;
    for (const statement of facts.file.all("Try"))
      for (const handler of statement.handlers) {
        if (!catchesOutOfMemory(handler, facts)) continue;
        const again = repeated(statement, handler, facts);
        if (again)
          yield {
            at: again,
            message:
              "The caught error's traceback still holds the failed attempt's frames and all their tensors; retry after the `except` block has ended",
          };
      }
  },
};

function catchesOutOfMemory(handler: Handler, facts: Facts): boolean {
  const types = handler.type?.kind === "Tuple" ? handler.type.items : handler.type ? [handler.type] : [];
  const names = types.map((type) => facts.file.dotted(type) ?? "");
  return (
    names.some((name) => name.endsWith("OutOfMemoryError")) ||
    (names.includes("builtins.RuntimeError") && /out of memory|is_oom|oom/i.test(facts.file.textOf(handler)))
  );
}

/** A call of the handler that the attempt made too, and that is no bookkeeping. */
function repeated(statement: Try, handler: Handler, facts: Facts): Call | null {
  const tried = new Set<string>();
  const bookkeeping =
    /^(?:print|log\w*|warn\w*|zero_grad|empty_cache|collect|append|format|str|write|info|update|items|keys|values|len|range|to|cuda|get|set_\w+|is_available|join|chunk|split|next|iter|enumerate|dumps?|encode|decode|exit|sleep|time)$/i;
  for (const one of statement.body)
    walk(one, (node) => {
      if (node.kind === "Call" && !bookkeeping.test(tail(node, facts)))
        tried.add(facts.file.textOf(node.func));
    });
  let found: Call | null = null;
  for (const one of handler.body)
    walk(one, (node) => {
      if (
        node.kind === "Call" &&
        tried.has(facts.file.textOf(node.func)) &&
        !(facts.file.dotted(node.func) ?? "").startsWith("builtins.")
      )
        found ??= node;
      return found === null;
    });
  return found;
}

function tail(call: Call, facts: Facts): string {
  return call.func.kind === "Attribute" ? call.func.attr : facts.file.textOf(call.func).slice(0, 60);
}
