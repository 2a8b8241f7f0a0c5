import { positional } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { For } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM045",
    name: "tensor-grown-by-cat",
    summary: "A tensor grows by one `cat` a turn: everything so far is copied each time",
    severity: "warning",
    fix: "none",
    patterns: [45],
  },
  *check(facts) {
    if (!/cat\(|concat|stack\(/.test(facts.file.text)) return;
    const { file } = facts;
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        statement.targets.length !== 1 ||
        target?.kind !== "Name" ||
        statement.value.kind !== "Call" ||
        !/^torch\.(?:cat|concat|concatenate|hstack|vstack)$/.test(file.dotted(statement.value.func) ?? "")
      )
        continue;
      const parts = positional(statement.value, 0);
      const loop = loopsAround(statement)[0];
      if (
        loop?.kind !== "For" ||
        (parts?.kind !== "Tuple" && parts?.kind !== "List") ||
        parts.items.length !== 2
      )
        continue;
      const own = parts.items.find((item) => item.kind === "Name" && item.id === target.id);
      if (
        own?.kind !== "Name" ||
        !file.scopes
          .reaching(own)
          .every(
            (one) =>
              !contains(loop, one.node) || contains(statement, one.node) || one.node.start > statement.start,
          )
      )
        continue;
      // Begun in this turn: two parts joined once.
      if (
        !file.scopes.reaching(own).some((one) => !contains(loop, one.node)) ||
        file.scopes
          .reaching(own)
          .some((one) => one.how === "param" || (one.value?.kind === "Const" && one.value.value === null))
      )
        continue;
      // Read by the loop itself, as in generation, each turn needs the whole.
      const fn = functionOf(statement);
      const reads = file
        .all("Name")
        .filter(
          (name) =>
            name.id === target.id &&
            name !== own &&
            contains(loop, name) &&
            functionOf(name) === fn &&
            !file.scopes.binds(name),
        );
      if (reads.length > 0) continue;
      yield {
        at: statement,
        // Over a handful of parts nobody notices; over batches, or in the step, it is quadratic.
        severity: facts.hot(statement) || overBatches(loop, facts) ? "warning" : "note",
        message: `Every turn allocates \`${target.id}\` anew and copies all of it; collect the parts in a list and \`cat\` once after the loop`,
      };
    }
  },
};

/** The loop goes over a loader, or runs a network each turn. */
function overBatches(loop: For, facts: Facts): boolean {
  if (/load|batch|data/i.test(facts.file.textOf(loop.iter))) return true;
  return facts.file.all("Call").some((call) => contains(loop, call) && isNetwork(call.func, facts));
}
