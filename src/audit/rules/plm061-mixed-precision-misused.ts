import { argument, isFalse, keyword } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM061",
    name: "mixed-precision-misused",
    summary: "Backward runs under autocast, or gradients are scaled for bfloat16",
    severity: "warning",
    fix: "none",
    patterns: [61],
  },
  *check(facts) {
    if (!/autocast/.test(facts.file.text)) return;
    const { file } = facts;
    for (const { call } of facts.backwards) {
      for (const at of ancestors(call)) {
        if (at.kind === "FunctionDef" || at.kind === "Lambda") break;
        if (
          at.kind === "With" &&
          at.items.some(({ context }) => context.kind === "Call" && isAutocast(context, file))
        ) {
          yield {
            at: call,
            message:
              "Backward runs under autocast: it already uses each forward operation's type, and autocast may now cast what it should not; leave the block first",
          };
          break;
        }
      }
    }
    const casts = file.all("Call").filter((call) => isAutocast(call, file));
    // Every cast in the file must say bfloat16: then no gradient can underflow.
    if (casts.length === 0 || !casts.every((call) => saysBfloat16(call, file))) return;
    for (const call of file.all("Call")) {
      if (!/^torch\.(?:cuda\.)?amp\.(?:grad_scaler\.)?GradScaler$/.test(file.dotted(call.func) ?? ""))
        continue;
      const enabled = keyword(call, "enabled");
      if (enabled && (isFalse(enabled.value) || enabled.value.kind !== "Const")) continue;
      yield {
        at: call.func,
        message:
          "bfloat16 has float32's range: scaling gains nothing, and each step waits to learn whether the gradients are finite",
      };
    }
  },
};

function isAutocast(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func) ?? "";
  return (
    /^torch\.(?:amp\.|cuda\.amp\.)?(?:autocast_mode\.)?autocast$/.test(name) &&
    !isFalse(keyword(call, "enabled")?.value ?? null)
  );
}

function saysBfloat16(call: Call, file: PythonFile): boolean {
  const dtype = argument(call, "dtype", 1);
  return dtype !== null && file.dotted(dtype) === "torch.bfloat16";
}
