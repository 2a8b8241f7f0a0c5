import { functionOf, statementOf } from "../../python/nodes.ts";
import { deleteStatement } from "../edits.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM030",
    name: "synchronized-every-step",
    summary: "The host waits for the device on purpose, on every step or for every kernel",
    severity: "warning",
    fix: "unsafe",
    patterns: [30],
  },
  *check(facts) {
    if (!/synchronize|CUDA_LAUNCH_BLOCKING/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      if (
        !/^torch\.(?:cuda|xpu|mps|npu|accelerator)\.synchronize$/.test(file.dotted(call.func) ?? "") ||
        !facts.everyStep(call)
      )
        continue;
      // Beside a clock it is what makes the clock right.
      const fn = functionOf(call);
      if (
        /\btime\.|perf_counter|monotonic|elapsed|Event\(|timer|profil|bench/i.test(
          file.textOf(fn ?? file.tree.module),
        )
      )
        continue;
      const statement = statementOf(call);
      yield {
        at: call,
        message:
          "The host waits here on every step until the device has finished; operations are in order without it",
        ...(statement?.kind === "ExprStmt" && statement.value === call
          ? { fix: { grade: "unsafe" as const, title: "Remove it", edits: deleteStatement(statement, file) } }
          : {}),
      };
    }
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        target?.kind !== "Subscript" ||
        target.index.kind !== "Str" ||
        target.index.value !== "CUDA_LAUNCH_BLOCKING" ||
        file.dotted(target.value) !== "os.environ"
      )
        continue;
      if (statement.value.kind !== "Str" || statement.value.value !== "1" || statement.parent?.kind === "If")
        continue;
      yield {
        at: statement,
        message:
          "`CUDA_LAUNCH_BLOCKING=1` makes the host wait for every single kernel of the run; it is for finding one fault",
        fix: { grade: "unsafe", title: "Remove it", edits: deleteStatement(statement, file) },
      };
    }
  },
};
