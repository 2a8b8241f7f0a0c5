import { isTrue, keyword } from "../../python/file.ts";
import { classOf, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM006",
    name: "recurrent-state-never-detached",
    summary: "A recurrent state is carried from step to step with its graph",
    severity: "error",
    fix: "unsafe",
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
      // Without any of these we cannot see that the network does not detach the state itself.
      if (!retained && !isRecurrentLayer(call.func, facts) && !isOwnRecurrent(call.func, facts)) continue;
      const statement = statementOf(call);
      for (const { value } of call.args)
        for (const part of value.kind === "Tuple" ? value.items : [value]) {
          if (part.kind !== "Name") continue;
          const definitions = file.scopes.reaching(part);
          const carried = definitions.find((one) => statement !== null && contains(statement, one.node));
          if (!carried || definitions.every((one) => contains(loop, one.node))) continue;
          const begins = definitions.filter((one) => !contains(loop, one.node));
          yield report(part, part.id, begins, value === part, call, facts);
        }
    }
    yield* onSelf(facts);
  },
};

function report(
  part: Expr,
  name: string,
  begins: readonly Definition[],
  whole: boolean,
  call: Call,
  facts: Facts,
): Finding {
  const none = begins.some(({ value }) => value?.kind === "Const" && value.value === null);
  const tuple = whole && /\bLSTM\b/.test(facts.file.text);
  const cut = tuple ? `tuple(s.detach() for s in ${name})` : `${name}.detach()`;
  const text = none ? `None if ${name} is None else ${cut}` : cut;
  // What an opaque network returns may be a tensor or a tuple of them.
  const known = begins.some(({ value }) => value !== null) || !whole;
  return {
    at: part,
    message: `\`${name}\` brings the graphs of all steps before into this one: backward walks through every one of them, or fails at the second`,
    ...(known && (tuple || !whole || isRecurrentLayer(call.func, facts) || isOwnRecurrent(call.func, facts))
      ? {
          fix: {
            grade: "unsafe" as const,
            title: "Cut it off from the steps before",
            edits: [{ start: part.start, end: part.end, text }],
          },
        }
      : {}),
  };
}

/** `out, self.hidden = self.rnn(x, self.hidden)` in a method that differentiates. */
function* onSelf(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const statement of file.all("Assign")) {
    const [target] = statement.targets;
    const call = statement.value;
    if (target?.kind !== "Tuple" || call.kind !== "Call" || facts.gradMode(call) === "off") continue;
    const inStep = facts.backwards.filter((one) => functionOf(one.call) === functionOf(statement));
    if (inStep.length === 0) continue;
    const retained = inStep.some((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
    if (!retained && !isRecurrentLayer(call.func, facts)) continue;
    for (const item of target.items) {
      const own = selfAttribute(item);
      const read = own === null ? null : call.args.find(({ value }) => selfAttribute(value) === own);
      if (!read || new RegExp(`self\\.${own}\\b[^\\n]*detach`).test(file.text)) continue;
      yield {
        at: read.value,
        message: `\`self.${own}\` brings the graphs of all steps before into this one: backward walks through every one of them, or fails at the second`,
      };
    }
  }
}

/** A network of this file around a recurrent layer, which detaches nothing. */
function isOwnRecurrent(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Name") return false;
  const made = facts.file.scopes.reaching(expr).map(({ value }) => constructed(value, facts));
  const cls = facts.file
    .all("ClassDef")
    .find((one) => made.length > 0 && made.every((name) => name === facts.file.qualified(one)));
  const text = cls ? facts.file.textOf(cls) : "";
  return /\b(?:LSTM|GRU|RNN)(?:Cell)?\(/.test(text) && !/detach/.test(text);
}

/** The class behind `Net(…)`, also as `Net(…).cuda()`. */
function constructed(value: Expr | null, facts: Facts): string | null {
  let at = value;
  while (at?.kind === "Call" && at.func.kind === "Attribute" && /^(?:to|cuda|train)$/.test(at.func.attr))
    at = at.func.value;
  return at?.kind === "Call" ? facts.file.dotted(at.func) : null;
}

function isRecurrentLayer(expr: Expr, facts: Facts): boolean {
  const made = (value: Expr | null): boolean =>
    /^torch\.nn\.(?:LSTM|GRU|RNN)(?:Cell)?$/.test(constructed(value, facts) ?? "");
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
