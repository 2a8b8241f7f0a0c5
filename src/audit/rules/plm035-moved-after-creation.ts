import { argument, keyword } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { FACTORIES, HOST_FACTORIES, RANDOM_FACTORIES, last } from "../facts/torch-names.ts";
import type { Edit, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM035",
    name: "moved-after-creation",
    summary: "A tensor is made on the host and copied to the device, where it could have been made",
    severity: "note",
    fix: "safe",
    patterns: [35],
  },
  *check(facts) {
    if (!/\.(?:to|cuda)\(/.test(facts.file.text)) return;
    const { file } = facts;
    for (const call of file.all("Call")) {
      if (
        call.func.kind !== "Attribute" ||
        (call.func.attr !== "to" && call.func.attr !== "cuda") ||
        call.func.value.kind !== "Call"
      )
        continue;
      const made = call.func.value;
      const name = file.dotted(made.func);
      if (
        name === null ||
        name !== `torch.${last(name)}` ||
        !FACTORIES.has(last(name)) ||
        HOST_FACTORIES.has(last(name))
      )
        continue;
      if (
        keyword(made, "device") ||
        made.args.some((arg) => arg.star === 2) ||
        keyword(made, "out") ||
        keyword(made, "generator")
      )
        continue;
      const device =
        call.func.attr === "cuda" ? (call.args.length === 0 ? '"cuda"' : null) : deviceText(call, facts);
      if (device === null) continue;
      const edits: Edit[] = [
        ...addKeyword(made, `device=${device}`, file),
        { start: made.end, end: call.end, text: "" },
      ];
      const hot = facts.everyStep(call);
      yield {
        at: call,
        ...(hot ? { severity: "warning" as const } : {}),
        message: `\`torch.${last(name)}\` fills host memory that is then copied to the device${hot ? ", on every step" : ""}; with \`device=\` it is made there`,
        fix: {
          grade: RANDOM_FACTORIES.has(last(name)) ? "unsafe" : "safe",
          title: "Make it on the device",
          edits,
        },
      };
    }
  },
};

/** The text of an argument that is certainly a device: `.to()` takes dtypes and tensors too. */
function deviceText(call: Call, facts: Facts): string | null {
  if (call.args.length !== 1) return null;
  const arg = argument(call, "device", 0);
  if (!arg || facts.device(arg) === "cpu") return null;
  return keyword(call, "device") || isDevice(arg, facts) ? facts.file.textOf(arg) : null;
}

function isDevice(expr: Expr, facts: Facts): boolean {
  return facts.device(expr) === "accelerator" || (expr.kind === "Attribute" && expr.attr === "device");
}
