import { ancestors, classOf, functionOf, statementOf } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { last } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

const LAYERS =
  /^torch\.nn\.(?:Linear|Conv[123]d|ConvTranspose[123]d|Embedding|LayerNorm|BatchNorm[123]d|GroupNorm|LSTM|GRU|RNN|MultiheadAttention|Bilinear|PReLU|TransformerEncoderLayer)$/;

const WORDS =
  /^(?:to|cuda|Linear|Conv[123]d|ConvTranspose[123]d|Embedding|LayerNorm|BatchNorm[123]d|GroupNorm|LSTM|GRU|RNN|MultiheadAttention|Bilinear|PReLU|TransformerEncoderLayer)$/;

export const rule: Rule = {
  meta: {
    code: "PLM077",
    name: "parameter-that-never-trains",
    summary:
      "A parameter is moved into a non-leaf, a layer is made inside forward, or a module is frozen by an attribute it does not have",
    severity: "error",
    fix: "none",
    patterns: [77],
  },
  *check(facts) {
    const { file } = facts;
    for (const call of file.calls.matching(WORDS)) {
      if (
        call.func.kind === "Attribute" &&
        (call.func.attr === "to" || call.func.attr === "cuda") &&
        call.func.value.kind === "Call" &&
        /^torch\.nn\.(?:parameter\.)?Parameter$/.test(file.dotted(call.func.value.func) ?? "") &&
        isKept(call) &&
        !isSameType(call, facts)
      )
        yield {
          at: call,
          message:
            "What is stored is a copy of the parameter, no parameter itself: the optimizer never sees it; move the data first, then wrap it",
        };
      const name = file.dotted(call.func) ?? "";
      if (LAYERS.test(name) && isMadeInForward(call, facts))
        yield {
          at: call,
          message: `A new \`${last(name)}\` with random weights in every forward: it is allocated each time and never trained`,
        };
    }
    for (const statement of file.all("Assign")) {
      const [target] = statement.targets;
      if (
        target?.kind === "Attribute" &&
        target.attr === "requires_grad" &&
        statement.value.kind === "Const" &&
        isModule(target.value, facts)
      )
        yield {
          at: statement,
          message:
            "A module has no `requires_grad`: this sets an attribute nobody reads, and its parameters go on training; call `requires_grad_(…)`",
        };
    }
  },
};

/** `.to(torch.float32)` of what is float32 gives back the parameter itself. */
function isSameType(call: Call, facts: Facts): boolean {
  const [arg] = call.args;
  const type = arg && call.args.length === 1 ? (facts.file.dotted(arg.value) ?? "") : "";
  if (!/^torch\.(?:float|half|bfloat|double|int|long)\w*$/.test(type)) return false;
  const made = facts.file.textOf((call.func as Expr & { kind: "Attribute" }).value);
  return made.includes("dtype") ? made.includes(last(type)) : /^torch\.float(?:32)?$/.test(type);
}

/** Stored on the module or under a name; passed on it may be wanted as a copy. */
function isKept(call: Call): boolean {
  const statement = statementOf(call);
  return (
    statement?.kind === "Assign" &&
    statement.value === call &&
    statement.targets.some((target) => selfAttribute(target) !== null)
  );
}

function isMadeInForward(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const cls = classOf(call);
  if (
    fn?.kind !== "FunctionDef" ||
    fn.name !== "forward" ||
    !cls ||
    fn.parent !== cls ||
    facts.role(cls) !== "module"
  )
    return false;
  // Under a test it may well be made once and kept: `if self.layer is None: self.layer = Linear(...)`.
  for (const at of ancestors(call)) {
    if (at === fn) return true;
    if (at.kind === "If" || at.kind === "IfExp" || at.kind === "Try") return false;
  }
  return false;
}

/** Made as one, handed out by a loop over modules, or a part of a network that is no parameter by its name. */
function isModule(expr: Expr, facts: Facts): boolean {
  if (facts.value(expr).what === "module") return true;
  if (expr.kind === "Name") {
    const definitions = facts.file.scopes.reaching(expr);
    return (
      definitions.length > 0 &&
      definitions.every(
        ({ how, value }) =>
          how === "iterate" &&
          value !== null &&
          /\.(?:children|modules|layers|blocks)(?:\(\))?$/.test(facts.file.textOf(value)),
      )
    );
  }
  const owner = rootOf(expr);
  return (
    expr.kind !== "Call" &&
    owner !== null &&
    facts.networks.is(owner) &&
    /(?:embeddings?|encoder|decoder|backbone|layers?|layer\d|head|classifier|features|stem|blocks?|fc|body|trunk)(?:\[[-\w]+\])?$/.test(
      facts.file.textOf(expr),
    )
  );
}

function rootOf(expr: Expr): Expr | null {
  let at: Expr = expr;
  while (at.kind === "Attribute" || at.kind === "Subscript") {
    if (selfAttribute(at) !== null) return at === expr ? null : at;
    at = at.value;
  }
  return at === expr || at.kind !== "Name" ? null : at;
}
