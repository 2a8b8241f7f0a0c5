import { argument, hasStars } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { callsOf } from "./returns.ts";

/** A number, or an attribute that only `__init__` writes, and arithmetic on these. */
export function isSetting(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Num") return true;
  if (expr.kind === "Unary") return isSetting(expr.operand, facts);
  // `half = self.dim // 2`
  if (expr.kind === "Name") {
    const inner = namedSetting(expr, facts);
    return inner !== null && isSetting(inner, facts);
  }
  // `self.config.length`
  if (expr.kind === "Attribute" && expr.value.kind === "Attribute") return isSetting(expr.value, facts);
  if (isOfModule(expr, facts)) return true;
  const parts = partsOf(expr, facts);
  if (parts) return parts.every((part) => isSetting(part, facts));
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 && writes.every((write) => write.in.name === "__init__" && !learns(write.value, facts))
  );
}

/** What `self.f_max or self.rate / 2`, `self.top if self.top is not None else 8000` and `int(self.rate * 0.025)` are worked out from. */
export function partsOf(expr: Expr, { file }: Facts): readonly Expr[] | null {
  if (expr.kind === "Binary") return [expr.left, expr.right];
  if (expr.kind === "Bool") return expr.values;
  if (expr.kind === "IfExp") {
    const { test } = expr;
    const asked = test.kind === "Compare" ? [test.left, ...test.rights] : [test];
    return [expr.body, expr.orelse, ...asked.filter((one) => one.kind !== "Const" && one.kind !== "Str")];
  }
  return expr.kind === "Call" &&
    expr.args.length > 0 &&
    /^(?:builtins\.(?:int|float|max|min|round|abs)|math\.\w+)$/.test(file.dotted(expr.func) ?? "")
    ? expr.args.map(({ value }) => value)
    : null;
}

/** `hparams.n_mels` of `import hparams` */
export function isOfModule(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Attribute" || expr.value.kind !== "Name") return false;
  const definitions = file.scopes.reaching(expr.value);
  return definitions.length > 0 && definitions.every(({ how }) => how === "import");
}

/** `nn.Parameter(…)`, `nn.Linear(…)`: another one after each step. */
function learns(value: Expr | null, { file }: Facts): boolean {
  return value?.kind === "Call" && file.dotted(value.func)?.startsWith("torch.nn.") === true;
}

/** What the only definition of a name says, above it in the same function or at the file's top: `N_EMBD = 384`. */
export function namedSetting(name: Expr & { kind: "Name" }, facts: Facts): Expr | null {
  const [one, ...more] = facts.file.scopes.reaching(name);
  return more.length === 0 &&
    one?.how === "assign" &&
    one.value !== null &&
    one.value.kind !== "Name" &&
    (functionOf(one.value) === functionOf(name) || one.value.parent?.parent?.kind === "Module")
    ? one.value
    : null;
}

/** `x.size(1)`, `x.shape[1]`, or a name unpacked from these. */
export function isSize(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const isShape = (one: Expr | null): boolean =>
    (one?.kind === "Attribute" && one.attr === "shape") ||
    (one?.kind === "Call" && one.func.kind === "Attribute" && one.func.attr === "size");
  if (expr.kind === "Name") {
    const [one, ...more] = file.scopes.reaching(expr);
    return more.length === 0 && (one?.how === "unpack" || one?.how === "assign") && one.value !== null
      ? isShape(one.value) ||
          // `n, d = q.shape[-2:]`
          (one.how === "unpack" && one.value.kind === "Subscript" && isShape(one.value.value)) ||
          (one.how === "assign" && one.value.kind !== "Name" && isSize(one.value, facts))
      : false;
  }
  return isShape(expr) || (expr.kind === "Subscript" && isShape(expr.value));
}

/** A setting, or `x.shape[-1]`, `x.size(-1)`: as wide as the layers made it. */
export function isWidth(expr: Expr, facts: Facts): boolean {
  if (isSetting(expr, facts) || expr.kind === "Const" || expr.kind === "Str") return true;
  const index =
    expr.kind === "Subscript" && expr.value.kind === "Attribute" && expr.value.attr === "shape"
      ? expr.index
      : expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "size"
        ? expr.args[0]?.value
        : undefined;
  return (
    index?.kind === "Unary" && index.op === "-" && index.operand.kind === "Num" && index.operand.text === "1"
  );
}

/** How many bins a filter is for is a size of the input, which is always the same. */
export function isFixed(expr: Expr, facts: Facts): boolean {
  return isSetting(expr, facts) || isSize(expr, facts) || expr.kind === "Const" || expr.kind === "Str";
}

/** `beta` of `def noise(x, beta=0.02)`, which nobody in the file gives another. */
export function isByDefault(expr: Expr, { file }: Facts): boolean {
  const [told, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const fn = told?.node.kind === "Param" && more.length === 0 ? told.node.parent : null;
  if (told?.node.kind !== "Param" || told.node.default?.kind !== "Num" || fn?.kind !== "FunctionDef")
    return false;
  const at = fn.params.indexOf(told.node) - (fn.params[0]!.name === "self" ? 1 : 0);
  return callsOf(fn, file).every((call) => !hasStars(call) && argument(call, told.name, at) === null);
}

function isWrittenDown(expr: Expr): boolean {
  return (
    expr.kind === "Num" ||
    ((expr.kind === "List" || expr.kind === "Tuple") && expr.items.every(isWrittenDown))
  );
}

/** A parameter, or what one holds, `hps.data.n_mels`: whoever calls gives a setting of the run, where it is no batch. */
export function isTold(expr: Expr, facts: Facts): boolean {
  if (isFixed(expr, facts)) return true;
  if (expr.kind === "Binary") return isTold(expr.left, facts) && isTold(expr.right, facts);
  if (expr.kind === "Unary") return isTold(expr.operand, facts);
  if (expr.kind === "Attribute") return isTold(expr.value, facts);
  // `config["n_mels"]`
  if (expr.kind === "Subscript") return expr.index.kind === "Str" && isTold(expr.value, facts);
  if (expr.kind !== "Name" || /batch|item|sample$|example/.test(expr.id)) return false;
  if (expr.id === "self") return true;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, node, value }) =>
        how === "param" ||
        how === "import" ||
        // `for n_fft, n_mels in [(512, 40), (1024, 80)]:`
        (how === "iterate" && value !== null && isWrittenDown(value)) ||
        (how === "assign" &&
          value !== null &&
          value.kind !== "Name" &&
          (isTold(value, facts) || functionOf(node) === null)),
    )
  );
}
