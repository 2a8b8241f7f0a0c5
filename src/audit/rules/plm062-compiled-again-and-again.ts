import { contains, walk } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "A new compiled wrapper each time: its guards are checked, or the graph compiled, from the start; compile once before the loop";

export const rule: Rule = {
  meta: {
    code: "PLM062",
    name: "compiled-again-and-again",
    summary: "`torch.compile` is called on every step or epoch",
    severity: "warning",
    fix: "none",
    patterns: [62],
  },
  *check(facts) {
    const { file } = facts;
    // Functions of this file that hand out what they compile.
    const makers = new Set(
      file
        .callsNamed("compile")
        .flatMap(({ func, parent }) =>
          parent?.kind === "Return" &&
          parent.parent?.kind === "FunctionDef" &&
          file.dotted(func) === "torch.compile"
            ? [file.qualified(parent.parent)]
            : [],
        ),
    );
    const words = [...makers].map((name) => name.slice(name.lastIndexOf(".") + 1));
    for (const call of file.callsNamed("compile", ...words)) {
      const method =
        call.func.kind === "Attribute" && call.func.attr === "compile" && facts.networks.is(call.func.value);
      const name = file.dotted(call.func);
      if (!method && name !== "torch.compile" && !(name !== null && makers.has(name))) continue;
      if (facts.everyStep(call) || facts.everyEpoch(call)) yield { at: call, message: MESSAGE };
      else if (isRepeated(call, facts)) yield { at: call, severity: "note", message: MESSAGE };
    }
    // A function defined in the step and decorated there is compiled each time.
    for (const fn of file.all("FunctionDef"))
      for (const decorator of fn.decorators)
        if (decorator.kind !== "Call" && file.dotted(decorator) === "torch.compile" && facts.everyStep(fn))
          yield { at: decorator, message: MESSAGE };
  },
};

/** In a loop that changes nothing about what is compiled, or how. */
function isRepeated(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  if (!loop || call.args.length === 0 || facts.frequency(call, loop) !== "every") return false;
  let same = true;
  walk(call, (node) => {
    if (node.kind === "Name" && facts.file.scopes.reaching(node).some((one) => contains(loop, one.node)))
      same = false;
    return same;
  });
  return same;
}
