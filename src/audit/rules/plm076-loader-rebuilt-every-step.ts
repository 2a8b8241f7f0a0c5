import { positional } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM076",
    name: "loader-rebuilt-every-step",
    summary: "A DataLoader, or its iterator, is made anew on every step or epoch",
    severity: "warning",
    fix: "none",
    patterns: [76],
  },
  *check(facts) {
    if (!/DataLoader|iter\(/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      const name = file.dotted(call.func) ?? "";
      if (name === "builtins.next") {
        const inner = positional(call, 0);
        const made =
          inner?.kind === "Call" && file.dotted(inner.func) === "builtins.iter" ? positional(inner, 0) : null;
        if (made && isLoader(made, facts) && facts.everyStep(call))
          yield {
            at: call,
            message:
              "A new iterator on every step: its workers are started, the first batches loaded, one is taken and the rest thrown away",
          };
      } else if (isDataLoader(name)) {
        const hot = facts.everyStep(call);
        const epoch = loopsAround(call).find((loop) =>
          [...facts.stepLoops].some((inner) => inner !== loop && contains(loop, inner)),
        );
        if (hot?.why === "in the training loop")
          yield {
            at: call,
            message: "A new DataLoader on every step: its workers are started and stopped each time",
          };
        // Over folds or stages each has its own data; only an epoch repeats.
        else if (
          epoch &&
          epoch.kind === "For" &&
          /epoch/i.test(file.textOf(epoch.target)) &&
          facts.frequency(call, epoch) === "every"
        )
          yield {
            at: call,
            severity: "note",
            message:
              "A new DataLoader in every epoch starts its workers again; make it once, with `persistent_workers=True`",
          };
      }
    }
  },
};

function isDataLoader(name: string): boolean {
  return /^torch\.utils\.data\.(?:dataloader\.)?DataLoader$/.test(name);
}

function isLoader(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Call") return isDataLoader(facts.file.dotted(expr.func) ?? "");
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      (one) =>
        (one.how === "param" && /loader$|_dl$/.test(expr.id)) ||
        (one.value !== null &&
          one.value.kind === "Call" &&
          isDataLoader(facts.file.dotted(one.value.func) ?? "")),
    )
  );
}
