import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { last } from "../facts/torch-names.ts";
import type { Edit, Finding, Rule } from "../rule.ts";

const READS =
  /^(?:math\.\w+|builtins\.(?:any|all|sum|range|list|round|sorted)|numpy\.(?:isnan|isfinite|isinf|mean|array|asarray|sum|exp|log|sqrt))$/;

/** Words of what is called there: the functions of Python's `math`, then those of NumPy and the builtins. */
const READERS =
  `acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot
  isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp
  any all sum range list round sorted mean array asarray`.split(/\s+/);

export const rule: Rule = {
  meta: {
    code: "PLM068",
    name: "hidden-host-read",
    summary: "A device tensor is handed to Python's or NumPy's own functions, which read it on the host",
    severity: "warning",
    fix: "unsafe",
    patterns: [68],
  },
  *check(facts) {
    yield* sizes(facts);
    for (const call of facts.file.callsNamed(...READERS)) {
      const name = facts.file.dotted(call.func) ?? "";
      if (
        !READS.test(name) ||
        !call.args.some((arg) => arg.star === 0 && isTensor(arg.value, facts)) ||
        !facts.everyStep(call)
      )
        continue;
      const own = /^builtins\.(any|all|sum)$/.exec(name)?.[1];
      const [only] = call.args;
      const each = /^builtins\.(?:any|all|sum|list|sorted)$/.test(name);
      const short = name.replace("builtins.", "");
      yield {
        at: call,
        message: each
          ? `\`${short}\` goes through the device tensor element by element on the host: a wait for each, on every step; torch has its own`
          : `\`${short}\` reads the device tensor on the host, with a wait, on every step; torch has its own`,
        ...(own && only && call.args.length === 1
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Let the device do it",
                edits: [{ start: call.start, end: only.start, text: "" }, ...closing(only.value, call, own)],
              },
            }
          : {}),
      };
    }
  },
};

/** `list(x.chunk(4))` goes through a tuple of tensors, not through a tensor. */
function isTensor(expr: Expr, facts: Facts): boolean {
  return facts.value(expr).what === "tensor" && facts.onAccelerator(expr);
}

/** `any(x)` → `x.any()`, with brackets where binding asks for them. */
function closing(value: Expr, call: Call, method: string): Edit[] {
  const tight = ["Name", "Attribute", "Call", "Subscript"].includes(value.kind);
  return tight
    ? [{ start: value.end, end: call.end, text: `.${method}()` }]
    : [
        { start: value.start, end: value.start, text: "(" },
        { start: value.end, end: call.end, text: `).${method}()` },
      ];
}

/** A 0-dim device tensor where Python wants a number: a size, a bound of a slice, a count of repeats. */
function* sizes(facts: Facts): Generator<Finding> {
  const report = (at: Expr): Finding => ({
    at,
    message: "Python wants a number here and reads the device tensor for it, with a wait, on every step",
  });
  const { file } = facts;
  const isCount = (expr: Expr): boolean => {
    if (expr.kind !== "Name" && expr.kind !== "Call") return false;
    const source = expr.kind === "Name" ? file.scopes.reaching(expr).map(({ value }) => value) : [expr];
    return (
      source.length > 0 &&
      source.every((value) => value?.kind === "Call" && isReduction(value)) &&
      facts.onAccelerator(expr) &&
      facts.value(expr).what === "tensor"
    );
  };
  for (const call of file.callsNamed(
    "zeros",
    "ones",
    "empty",
    "full",
    "arange",
    "rand",
    "randn",
    "eye",
    "repeat",
    "expand",
    "view",
    "reshape",
    "new_zeros",
    "new_ones",
  )) {
    const name = file.dotted(call.func) ?? "";
    const made =
      name === `torch.${last(name)}` && /^(?:zeros|ones|empty|full|arange|rand|randn|eye)$/.test(last(name));
    const method =
      name === "" &&
      call.func.kind === "Attribute" &&
      /^(?:repeat|expand|view|reshape|new_zeros|new_ones)$/.test(call.func.attr);
    if (!made && !method) continue;
    for (const { value, name: key } of call.args)
      if (key === null)
        for (const part of value.kind === "Tuple" || value.kind === "List" ? value.items : [value])
          if (isCount(part) && facts.everyStep(call)) yield report(part);
  }
  for (const slice of file.all("Slice"))
    for (const bound of [slice.lower, slice.upper])
      if (bound && isCount(bound) && facts.everyStep(slice)) yield report(bound);
}

/** Reduced to one number: `mask.sum()`, `lengths.max()`. */
function isReduction(call: Call): boolean {
  return (
    call.func.kind === "Attribute" &&
    /^(?:sum|max|min|argmax|count_nonzero|amax|amin)$/.test(call.func.attr) &&
    call.args.length === 0
  );
}
