import type { Call, Node } from "../../python/tree.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM071",
    name: "barrier-every-step",
    summary: "All ranks wait for each other on every step, or reduce one scalar after another",
    severity: "warning",
    fix: "none",
    patterns: [71],
  },
  *check(facts) {
    const { file } = facts;
    const reduces: Call[] = [];
    for (const call of file.callsNamed("barrier", "all_reduce", "wait_for_everyone")) {
      const name = file.dotted(call.func) ?? "";
      const waits =
        name === "" &&
        call.func.kind === "Attribute" &&
        call.func.attr === "wait_for_everyone" &&
        /accelerator/i.test(file.textOf(call.func.value));
      if (
        (waits || /^torch\.distributed\.(?:distributed_c10d\.)?barrier$/.test(name)) &&
        facts.everyStep(call)
      )
        yield {
          at: call,
          message:
            "Every rank waits here for the slowest, on every step; the reduction of the gradients already keeps them together",
        };
      if (/^torch\.distributed\.(?:distributed_c10d\.)?all_reduce$/.test(name) && facts.everyStep(call))
        reduces.push(call);
    }
    const groups = new Map<Node, Call[]>();
    for (const call of reduces) {
      const [arg] = call.args;
      // One call in a loop over metrics is as many reductions.
      if (isOverMetrics(call)) {
        yield {
          at: call,
          severity: "note",
          message:
            "One reduction for each metric, on every step, each as slow as one of all; stack the values and reduce once",
        };
        continue;
      }
      if (!arg || facts.value(arg.value).what !== "tensor") continue;
      const within = facts.hot(call)!.within;
      const group = groups.get(within);
      if (group) group.push(call);
      else groups.set(within, [call]);
    }
    for (const here of groups.values())
      if (here.length > 1)
        yield {
          at: here[1]!,
          severity: "note",
          message: `${here.length} separate reductions on every step, each as slow as one; stack the values and reduce once`,
        };
  },
};

/** `for value in metrics.values(): all_reduce(value)`. */
function isOverMetrics(call: Call): boolean {
  for (let at: Node | null = call.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "For")
      return (
        at.iter.kind === "Call" &&
        at.iter.func.kind === "Attribute" &&
        /^(?:values|items)$/.test(at.iter.func.attr)
      );
  return false;
}
