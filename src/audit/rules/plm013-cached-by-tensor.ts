import type { Expr } from "../../python/tree.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM013",
    name: "cached-by-tensor",
    summary: "`lru_cache` on a function of tensors: it keeps them, and never finds them again",
    severity: "error",
    fix: "none",
    patterns: [13],
  },
  *check({ file }) {
    if (!/cache/.test(file.text)) return;
    for (const fn of file.all("FunctionDef")) {
      const decorator = fn.decorators.find((one) =>
        /^functools\.(?:lru_cache|cache)$/.test(file.dotted(one.kind === "Call" ? one.func : one) ?? ""),
      );
      const param = fn.params.find(
        (one) => one.annotation !== null && isTensor(file.dotted(one.annotation), one.annotation),
      );
      if (decorator && param)
        yield {
          at: decorator,
          message: `Tensors are looked up by identity: every new \`${param.name}\` misses, and the cache keeps it, its graph and the result alive`,
        };
    }
  },
};

function isTensor(name: string | null, annotation: Expr): boolean {
  return (
    name === "torch.Tensor" ||
    (annotation.kind === "Str" && /^(?:torch\.)?Tensor$/.test(annotation.value ?? ""))
  );
}
