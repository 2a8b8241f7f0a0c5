import { keyword, positional } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import { addKeyword } from "../edits.ts";
import type { Facts } from "../facts/facts.ts";
import { last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";

/** NumPy functions whose results have fractions, whatever they are given. */
const FRACTIONS = /^numpy\.(?:sqrt|exp|log|log2|log10|log1p|sin|cos|tanh)$/;

/** NumPy functions whose result is float64 unless told otherwise. */
const FLOAT64 =
  /^numpy\.(?:zeros|ones|empty|eye|identity|linspace|logspace|geomspace|hanning|hamming|blackman|bartlett|kaiser|random\.(?:rand|randn|random|random_sample|uniform|normal|standard_normal|beta|gamma|exponential|dirichlet|laplace|lognormal))$/;
/** NumPy functions whose result has the type of their first argument. */
const SAME =
  /^numpy\.(?:cumprod|cumsum|sort|diff|sqrt|exp|log|log1p|sin|cos|tanh|abs|clip|flip|append|concatenate|stack|vstack|hstack|tile|repeat|minimum|maximum|square|expand_dims|reshape|transpose|ascontiguousarray|meshgrid)$/;

export const rule: Rule = {
  meta: {
    code: "PLM043",
    name: "float64-sent-to-device",
    summary: "A NumPy array of float64 is sent to the device as it is",
    severity: "warning",
    fix: "unsafe",
    patterns: [43],
  },
  *check(facts) {
    yield* collated(facts);
    for (const call of facts.file.callsNamed("to", "cuda", "from_numpy", "tensor", "as_tensor")) {
      const moved =
        call.func.kind === "Attribute" &&
        (call.func.attr === "cuda" ||
          (call.func.attr === "to" &&
            !keyword(call, "dtype") &&
            positional(call, 1) === null &&
            toDevice(call, facts)))
          ? factory(call.func.value, facts, 0)
          : null;
      const made = moved ?? (keyword(call, "device") ? call : null);
      if (made?.kind !== "Call" || keyword(made, "dtype")) continue;
      const name = facts.file.dotted(made.func) ?? "";
      if (
        !/^torch\.(?:from_numpy|tensor|as_tensor)$/.test(name) ||
        (made === call && facts.device(keyword(call, "device")!.value) === "cpu")
      )
        continue;
      const data = positional(made, 0);
      if (!data || !isFloat64(data, facts)) continue;
      yield {
        at: made,
        // Once after an evaluation it is next to nothing.
        ...(isCounted(data, facts) ? { severity: "note" as const } : {}),
        message: `\`torch.${last(name)}\` keeps NumPy's float64: twice the bytes to copy and to hold, and slow arithmetic with whatever meets it`,
        fix: {
          grade: "unsafe",
          title: "Make it float32",
          edits:
            made === call
              ? addKeyword(
                  call,
                  `dtype=${facts.file.textOf(made.func).replace(/\.?\w+$/, "") || "torch"}.float32`,
                  facts.file,
                )
              : [{ start: made.end, end: made.end, text: ".float()" }],
        },
      };
    }
  },
};

/** What a dataset returns as NumPy's float64, the loader makes a tensor of float64 of. */
function* collated(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (facts.role(cls) !== "dataset") continue;
    const method = methodsOf(cls).find(({ name }) => name === "__getitem__");
    if (!method) continue;
    for (const { value } of file.all("Return").filter((one) => functionOf(one) === method)) {
      const items = value?.kind === "Tuple" ? value.items : value ? [value] : [];
      const wide = items.find((item) => isArray(item, facts) && isFloat64(item, facts));
      if (wide)
        yield {
          at: wide,
          severity: "note",
          message:
            "The loader makes a float64 tensor of this: twice the bytes to hold, and to copy unless it is cast before",
          fix: {
            grade: "unsafe",
            title: "Make it float32",
            edits: [{ start: wide.end, end: wide.end, text: '.astype("float32")' }],
          },
        };
    }
  }
}

/** More than a number. */
function isArray(expr: Expr, { file }: Facts): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  const name = made?.kind === "Call" ? (file.dotted(made.func) ?? "") : "";
  if (made?.kind !== "Call" || !name.startsWith("numpy.")) return false;
  // `np.random.uniform(0, 1)` is one, and so is a mean.
  if (name.startsWith("numpy.random."))
    return (
      keyword(made, "size") !== null ||
      made.args.length >
        (/^numpy\.random\.(?:rand|randn|random|random_sample|standard_normal)$/.test(name) ? 0 : 2)
    );
  return made.args.length > 0;
}

/** `confusion_matrix`: a few numbers for a whole dataset. */
function isCounted(data: Expr, { file }: Facts): boolean {
  return /confusion|hist|count|metric|total|correct/i.test(file.textOf(data));
}

/** The tensor that is moved, as it was made: through a name and changes of shape. */
function factory(expr: Expr, facts: Facts, depth: number): Expr | null {
  if (depth > 4) return null;
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    return value ? factory(value, facts, depth + 1) : null;
  }
  // `self.schedule().to(device)`, of a method that makes the tensor.
  const own = expr.kind === "Call" && facts.file.dotted(expr.func) === null ? selfAttribute(expr.func) : null;
  const method = own === null ? undefined : methodsOf(classOf(expr)!).find(({ name }) => name === own);
  if (method) {
    const [made, ...more] = facts.file.all("Return").filter((one) => functionOf(one) === method);
    return made?.value && more.length === 0 ? factory(made.value, facts, depth + 1) : null;
  }
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:unsqueeze|view|reshape|squeeze|flatten|permute|transpose|contiguous|clone|pin_memory|t)$/.test(
      expr.func.attr,
    ) &&
    facts.file.dotted(expr.func) === null
    ? factory(expr.func.value, facts, depth + 1)
    : expr;
}

function toDevice(call: Call, facts: Facts): boolean {
  const arg = keyword(call, "device")?.value ?? positional(call, 0);
  return (
    arg !== null &&
    (facts.isAccelerator(facts.device(arg)) || (arg.kind === "Attribute" && arg.attr === "device"))
  );
}

function numpyCall(expr: Expr, facts: Facts): string {
  return expr.kind === "Call" && !keyword(expr, "dtype") ? (facts.file.dotted(expr.func) ?? "") : "";
}

/** An array of integers. */
function isWhole(expr: Expr, facts: Facts): boolean {
  // `len(counts) * counts`
  if (expr.kind === "Binary" && /^[-+*]$/.test(expr.op)) {
    const plain = (side: Expr): boolean =>
      (side.kind === "Num" && !/[.e]/.test(side.text)) ||
      (side.kind === "Call" && facts.file.dotted(side.func) === "builtins.len");
    const [left, right] = [isWhole(expr.left, facts), isWhole(expr.right, facts)];
    return (left && (right || plain(expr.right))) || (right && plain(expr.left));
  }
  if (expr.kind === "Unary") return isWhole(expr.operand, facts);
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    return value !== null && value.kind === "Call" && isWhole(value, facts);
  }
  return (
    /^numpy\.(?:arange|bincount|random\.randint)$/.test(numpyCall(expr, facts)) && !hasPoint(expr, facts)
  );
}

/** `np.arange(0, 1, 0.1)` */
function hasPoint(expr: Expr, facts: Facts): boolean {
  return /\d\.|\.\d|\de-|minlength=None/.test(facts.file.textOf(expr));
}

function isNumber(expr: Expr): boolean {
  return expr.kind === "Num" || (expr.kind === "Unary" && expr.operand.kind === "Num");
}

/** `rng.normal(…)` of a generator made here. */
function isGenerator(call: Call, facts: Facts): boolean {
  if (call.func.kind !== "Attribute" || !/^(?:normal|uniform|random|standard_normal)$/.test(call.func.attr))
    return false;
  if (call.func.value.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(call.func.value);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ value }) =>
        value?.kind === "Call" &&
        /^numpy\.random\.(?:default_rng|RandomState|Generator)$/.test(facts.file.dotted(value.func) ?? ""),
    )
  );
}

/** `np.array(x, dtype=np.float64)`, `x.astype(np.float64)` */
function saysFloat64(call: Call, facts: Facts): boolean {
  const casts = call.func.kind === "Attribute" && call.func.attr === "astype";
  const made = (facts.file.dotted(call.func) ?? "").startsWith("numpy.");
  const type = keyword(call, "dtype")?.value ?? (casts ? positional(call, 0) : null);
  return (
    (casts || made) &&
    type !== null &&
    (type.kind === "Str"
      ? type.value === "float64"
      : /^(?:numpy\.(?:float64|double)|builtins\.float)$/.test(facts.file.dotted(type) ?? ""))
  );
}

/** Numbers, in rows or not, and at least one of them with a point. */
function areFloats(items: readonly Expr[]): boolean {
  const flat = items.flatMap((item) => (item.kind === "List" || item.kind === "Tuple" ? item.items : [item]));
  const numbers = flat.map((item) => (item.kind === "Unary" ? item.operand : item));
  return (
    numbers.every((item) => item.kind === "Num") &&
    numbers.some((item) => item.kind === "Num" && /[.e]/.test(item.text))
  );
}

function isFloat64(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 14) return false;
  // A Python number leaves an array's type as it is.
  if (expr.kind === "Binary") {
    // A true division of whole numbers is float64, and so is their product with a number that has a point.
    const [whole, other] = isWhole(expr.left, facts) ? [expr.left, expr.right] : [expr.right, expr.left];
    if (isWhole(whole, facts) && /^[-+*/]$/.test(expr.op))
      return (
        (expr.op === "/" && !/^(?:tensor|output)$/.test(facts.value(other).what)) ||
        (other.kind === "Num" && /[.e]/.test(other.text))
      );
    const [left, right] = [isFloat64(expr.left, facts, depth + 1), isFloat64(expr.right, facts, depth + 1)];
    const plain = (side: Expr): boolean =>
      isNumber(side) ||
      side.kind === "Attribute" ||
      (side.kind === "Name" && !/^(?:tensor|output)$/.test(facts.value(side).what)) ||
      (side.kind === "Call" &&
        (/^builtins\.(?:len|float|int)$/.test(facts.file.dotted(side.func) ?? "") ||
          // `counts.sum()`
          (side.func.kind === "Attribute" &&
            /^(?:sum|max|min)$/.test(side.func.attr) &&
            isWhole(side.func.value, facts))));
    return (left && (right || plain(expr.right))) || (right && plain(expr.left));
  }
  // A part of it, `returns[::-1]`, or its negative.
  if (expr.kind === "Subscript") return isFloat64(expr.value, facts, depth + 1);
  if (expr.kind === "Unary") return isFloat64(expr.operand, facts, depth + 1);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) {
    const writes = attributesOf(cls, facts.file).get(own!)?.writes ?? [];
    return (
      writes.length > 0 &&
      writes.every(
        ({ how, value }) => how === "assign" && value !== null && isFloat64(value, facts, depth + 1),
      )
    );
  }
  if (expr.kind === "Call" && saysFloat64(expr, facts)) return true;
  if (expr.kind === "Call" && isGenerator(expr, facts)) return !keyword(expr, "dtype");
  // What a function of this file returns.
  const name = expr.kind === "Call" ? facts.file.dotted(expr.func) : null;
  const fn = facts.file.functionNamed(name);
  if (fn) {
    const returns = facts.file.all("Return").filter((one) => functionOf(one) === fn);
    return (
      returns.length > 0 && returns.every(({ value }) => value !== null && isFloat64(value, facts, depth + 1))
    );
  }
  // `np.sqrt(np.arange(n))`: of whole numbers these make float64.
  if (expr.kind === "Call" && FRACTIONS.test(facts.file.dotted(expr.func) ?? "")) {
    const of = positional(expr, 0);
    return of !== null && expr.args.length === 1 && (isWhole(of, facts) || isFloat64(of, facts, depth + 1));
  }
  // Of two factors one is enough, beside whole numbers.
  if (
    expr.kind === "Call" &&
    /^numpy\.(?:outer|dot|multiply|kron|power|add|subtract|divide)$/.test(facts.file.dotted(expr.func) ?? "")
  ) {
    const parts = expr.args.map(({ value }) => value);
    const wide = parts.filter((part) => isFloat64(part, facts, depth + 1));
    const plain = (part: Expr): boolean =>
      isNumber(part) || (part.kind === "Name" && !/^(?:tensor|output)$/.test(facts.value(part).what));
    return (
      wide.length > 0 &&
      parts.every((part) => wide.includes(part) || isWhole(part, facts) || plain(part)) &&
      (parts.every((part) => wide.includes(part) || !plain(part)) ||
        wide.some((part) => isArray(part, facts)))
    );
  }
  if (expr.kind === "Call" && SAME.test(facts.file.dotted(expr.func) ?? "")) {
    const first = positional(expr, 0);
    const parts = first?.kind === "List" || first?.kind === "Tuple" ? first.items : first ? [first] : [];
    return (
      !keyword(expr, "dtype") && parts.length > 0 && parts.every((part) => isFloat64(part, facts, depth + 1))
    );
  }
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    facts.file.dotted(expr.func) === null &&
    /^(?:copy|reshape|cumsum|cumprod|transpose|mean|std|var|sum|max|min|clip|flatten|ravel|squeeze)$/.test(
      expr.func.attr,
    )
  )
    return isFloat64(expr.func.value, facts, depth + 1);
  if (expr.kind === "Call" && /^numpy\.(?:array|asarray)$/.test(facts.file.dotted(expr.func) ?? "")) {
    const data = positional(expr, 0);
    return (
      data?.kind === "List" &&
      !keyword(expr, "dtype") &&
      expr.args.length === 1 &&
      (areFloats(data.items) ||
        // `np.array([np.random.uniform(-1, 1), np.random.uniform(-1, 1)])`
        (data.items.length > 0 && data.items.every((item) => FLOAT64.test(numpyCall(item, facts)))))
    );
  }
  if (expr.kind === "Call")
    return (
      FLOAT64.test(facts.file.dotted(expr.func) ?? "") &&
      !keyword(expr, "dtype") &&
      !expr.args.some((arg) => arg.star === 2) &&
      !/dtype|float32|int/.test(facts.file.textOf(expr))
    );
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  const [one] = definitions;
  // `ys, xs = np.meshgrid(…)`
  const grid =
    one?.how === "unpack" &&
    one.value?.kind === "Call" &&
    facts.file.dotted(one.value.func) === "numpy.meshgrid";
  return (
    definitions.length === 1 &&
    (definitions[0]!.how === "assign" || grid) &&
    definitions[0]!.value !== null &&
    isFloat64(definitions[0]!.value, facts, depth + 1)
  );
}
