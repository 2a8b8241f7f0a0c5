import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM060",
    name: "data-parallel",
    summary:
      "`nn.DataParallel` copies the model to every device on every forward and gathers outputs on the first",
    severity: "warning",
    fix: "none",
    patterns: [60],
  },
  *check({ file }) {
    for (const call of file.callsNamed("DataParallel", "data_parallel"))
      if (
        /^torch\.nn\.(?:parallel\.(?:data_parallel\.)?)?(?:DataParallel|data_parallel)$/.test(
          file.dotted(call.func) ?? "",
        )
      )
        yield {
          at: call.func,
          message:
            "`DataParallel` copies the model to all devices in every forward, in one process, and gathers outputs and gradients on the first; use DistributedDataParallel",
        };
  },
};
