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
    }
    // A function defined in the step and decorated there is compiled each time.
    for (const fn of file.all("FunctionDef"))
      for (const decorator of fn.decorators)
        if (decorator.kind !== "Call" && file.dotted(decorator) === "torch.compile" && facts.everyStep(fn))
          yield { at: decorator, message: MESSAGE };
  },
};
