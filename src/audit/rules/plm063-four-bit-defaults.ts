import { hasStars, isTrue, keyword } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Node } from "../../python/tree.ts";
import { addKeyword } from "../edits.ts";
import { localName } from "../imports.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM063",
    name: "four-bit-defaults",
    summary: "4-bit weights computed in float32, or kept in fp4, because nothing else was said",
    severity: "warning",
    fix: "unsafe",
    patterns: [63],
  },
  *check({ file }) {
    if (
      file.callsNamed("BitsAndBytesConfig").length === 0 &&
      file.calls.given(["device_map", "load_in_4bit"]).length === 0
    )
      return;
    for (const call of file.callsNamed("BitsAndBytesConfig")) {
      if (
        !/^transformers\.(?:utils\.quantization_config\.)?BitsAndBytesConfig$/.test(
          file.dotted(call.func) ?? "",
        ) ||
        call.args.some((arg) => arg.star === 2) ||
        !isTrue(keyword(call, "load_in_4bit")?.value ?? null)
      )
        continue;
      const torch = localName(file, "torch");
      if (!keyword(call, "bnb_4bit_compute_dtype"))
        yield {
          at: call.func,
          message: "Without `bnb_4bit_compute_dtype` the 4-bit weights are computed with in float32",
          fix: {
            grade: "unsafe",
            title: "Compute in bfloat16",
            edits: addKeyword(call, `bnb_4bit_compute_dtype=${torch ?? "torch"}.bfloat16`, file),
            ...(torch === null ? { imports: ["import torch"] } : {}),
          },
        };
      else if (!keyword(call, "bnb_4bit_quant_type"))
        yield {
          at: call.func,
          severity: "note",
          message:
            'The default 4-bit type is fp4; "nf4" fits normally distributed weights better at the same size',
          fix: {
            grade: "unsafe",
            title: "Use nf4",
            edits: addKeyword(call, 'bnb_4bit_quant_type="nf4"', file),
          },
        };
    }
    for (const call of file.callsNamed("from_pretrained")) {
      const flag = keyword(call, "load_in_4bit");
      if (
        call.func.kind !== "Attribute" ||
        call.func.attr !== "from_pretrained" ||
        !flag ||
        !isTrue(flag.value) ||
        // Other libraries have other defaults.
        !/^(?:transformers|peft|diffusers|trl)\./.test(file.dotted(call.func) ?? "")
      )
        continue;
      if (keyword(call, "quantization_config") || keyword(call, "bnb_4bit_compute_dtype") || hasStars(call))
        continue;
      yield {
        at: flag,
        message:
          "Asked for like this the 4-bit weights are fp4 and are computed with in float32; say both in a `BitsAndBytesConfig`",
      };
    }
    if (!/DistributedDataParallel|ddp_find_unused_parameters|\.prepare\(/.test(file.text)) return;
    for (const call of file.callsNamed("from_pretrained")) {
      const map = keyword(call, "device_map");
      if (
        map?.value.kind === "Str" &&
        map.value.value === "auto" &&
        call.func.kind === "Attribute" &&
        call.func.attr === "from_pretrained" &&
        !isConditional(call)
      )
        yield {
          at: map,
          message:
            '`device_map="auto"` spreads one model over all devices, yet each process of data-parallel training wants its own copy on its own device',
        };
    }
  },
};

/** Under a test that may tell one process from many. */
function isConditional(node: Node): boolean {
  for (const at of ancestors(node)) if (at.kind === "If" || at.kind === "IfExp") return true;
  return false;
}
