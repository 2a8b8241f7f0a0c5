import { classOf, contains, statementOf } from "../../python/nodes.ts";
import { isTrue, keyword } from "../../python/file.ts";
import type { Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM006",
    name: "recurrent-state-never-detached",
    summary: "A recurrent state is carried from step to step with its graph",
    severity: "error",
    fix: "none",
    patterns: [6],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      const loop = facts.stepLoop(call);
      if (!loop || facts.gradMode(call) === "off" || !isNetwork(call.func, facts)) continue;
      const inLoop = facts.backwards.filter(
        (one) => contains(loop, one.call) && facts.stepLoop(one.call) === loop,
      );
      if (inLoop.length === 0) continue;
      const retained = inLoop.some((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
      // Without either we cannot see that the network does not detach the state itself.
      if (!retained && !isRecurrentLayer(call.func, facts)) continue;
      const statement = statementOf(call);
      for (const arg of call.args) {
        if (arg.value.kind !== "Name") continue;
        const definitions = file.scopes.reaching(arg.value);
        const carried = definitions.find(
          (one) => statement !== null && contains(statement, one.node) && one.value === call,
        );
        if (!carried || definitions.every((one) => contains(loop, one.node))) continue;
        yield {
          at: arg.value,
          message: `\`${arg.value.id}\` brings the graphs of all steps before into this one: backward walks through every one of them, or fails at the second`,
        };
      }
    }
  },
};

function isRecurrentLayer(expr: Expr, facts: Facts): boolean {
  const made = (value: Expr | null): boolean =>
    value?.kind === "Call" &&
    /^torch\.nn\.(?:LSTM|GRU|RNN)(?:Cell)?$/.test(facts.file.dotted(value.func) ?? "");
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    return (
      cls !== null &&
      (attributesOf(cls, facts.file)
        .get(own)
        ?.writes.every((write) => made(write.value)) ??
        false)
    );
  }
  return expr.kind === "Name" && facts.file.scopes.reaching(expr).every((one) => made(one.value));
}
