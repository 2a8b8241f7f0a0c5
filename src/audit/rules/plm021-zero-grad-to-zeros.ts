import { argument, isFalse } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { given } from "../facts/arguments.ts";
import { defaultOf } from "../facts/behind-options.ts";
import type { Facts } from "../facts/facts.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM021",
    name: "zero-grad-to-zeros",
    summary: "`zero_grad(set_to_none=False)` keeps every gradient allocated and fills it with zeros",
    severity: "warning",
    fix: "unsafe",
    patterns: [21],
  },
  *check(facts) {
    const { file } = facts;
    yield* byHand(facts);
    const clears = file.callsNamed("zero_grad");
    if (clears.length === 0) return;
    // Gradients that are added to by hand, or put somewhere, must be there.
    if (
      file.all("AugAssign").some(({ target }) => target.kind === "Attribute" && target.attr === "grad") ||
      file
        .all("Assign")
        .some(
          ({ targets: [target], value }) =>
            target?.kind === "Attribute" && target.attr === "grad" && value.kind !== "Const",
        )
    )
      return;
    for (const call of clears) {
      if (call.func.kind !== "Attribute" || call.func.attr !== "zero_grad" || call.args.length !== 1)
        continue;
      const flag = given(call, "set_to_none", file) ?? argument(call, "set_to_none", 0);
      const value = flag?.kind === "Name" ? file.scopes.onlyValue(flag) : flag;
      if (!flag || !value) continue;
      if (isOffByDefault(value, facts))
        yield {
          at: flag,
          severity: "note",
          message: `\`${file.textOf(value)}\` is false by default: then the gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written`,
        };
      if (!(isFalse(value) || (value.kind === "Num" && value.text === "0"))) continue;
      yield {
        at: flag,
        message:
          "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
        fix: {
          grade: "unsafe",
          title: "Let them be freed",
          edits: [{ start: flag.start, end: flag.end, text: "True" }],
        },
      };
    }
  },
};

/** `args.set_grads_to_none` of a switch that nobody turns, or `not args.keep_grads` of one that is on. */
function isOffByDefault(flag: Expr, { file, project }: Facts): boolean {
  const denied = flag.kind === "Unary" && flag.op === "not";
  const option = denied ? flag.operand : flag;
  if (option.kind !== "Attribute") return false;
  const said = defaultOf(option, file, project);
  const off = denied ? said === true || said === 1 : said === false || said === 0;
  return off && !isSetAnew(option.attr, file);
}

/** `args.set_grads_to_none = True` by the program itself. */
function isSetAnew(option: string, file: PythonFile): boolean {
  return file
    .all("Assign")
    .some(({ targets }) => targets.some((one) => one.kind === "Attribute" && one.attr === option));
}

/** `if bad: p.grad.zero_()`, by a test other than whether there is a gradient: what is too large, or not a number, is not stepped with. */
function isThrownAway(call: Call, parameter: string, { file }: Facts): boolean {
  const isThere = new RegExp(
    `^(?:\\(?${parameter}\\.(?:requires_grad|grad(?: is not None| != None)?)\\)?(?: and |$))+$`,
  );
  for (const at of ancestors(call)) {
    if (at.kind === "For") return false;
    if (at.kind === "If" && !isThere.test(file.codeOf(at.test))) return true;
  }
  return false;
}

/** `p.grad = torch.zeros_like(p)` on every step, where nothing else is put there by hand. */
function* anew(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const isZeros = (value: Expr): boolean =>
    value.kind === "Call" && /^torch\.zeros(?:_like)?$/.test(file.dotted(value.func) ?? "");
  const put = file.assignsTo("grad");
  const isAdded = file
    .all("AugAssign")
    .some(({ target }) => target.kind === "Attribute" && target.attr === "grad");
  if (isAdded || put.some(({ value }) => value.kind !== "Const" && !isZeros(value))) return;
  for (const at of put) {
    const [target] = at.targets;
    const of = target?.kind === "Attribute" && target.value.kind === "Name" ? target.value : null;
    const [one, ...more] = of && isZeros(at.value) ? file.scopes.reaching(of) : [];
    if (one?.how !== "iterate" || more.length > 0 || !one.value) continue;
    if (!/parameters\(/.test(file.textOf(one.value)) || isGuarded(at)) continue;
    if (facts.hot(at))
      yield {
        at,
        message:
          "Gradients of zeros are allocated before the forward and then added to, instead of being freed and written",
      };
  }
}

/** `if p.grad is None:` */
const isGuarded = (node: Node): boolean => {
  for (const at of ancestors(node)) if (at.kind === "If" || at.kind === "For") return at.kind === "If";
  return false;
};

/** `p.grad.zero_()`, `p.grad.fill_(0)`, `p.grad.mul_(0)` */
function makesZeros({ args, func }: Call): boolean {
  const given = args[0]?.value;
  return (
    func.kind === "Attribute" &&
    (func.attr === "zero_"
      ? args.length === 0
      : args.length === 1 && given?.kind === "Num" && Number(given.text) === 0)
  );
}

/** `for p in model.parameters(): p.grad.zero_()`, on every step. */
function* byHand(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("_foreach_zero_"))
    if (
      facts.file.dotted(call.func) === "torch._foreach_zero_" &&
      /\.grad\b/.test(facts.file.textOf(call)) &&
      facts.hot(call)
    )
      yield {
        at: call,
        message:
          "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
      };
  yield* anew(facts);
  for (const call of facts.file.callsNamed("zero_", "fill_", "mul_")) {
    if (call.func.kind !== "Attribute" || !makesZeros(call)) continue;
    const data = call.func.value;
    const grad = data.kind === "Attribute" && data.attr === "data" ? data.value : data;
    if (grad.kind !== "Attribute" || grad.attr !== "grad" || grad.value.kind !== "Name") continue;
    const [one, ...more] = facts.file.scopes.reaching(grad.value);
    if (
      !one?.value ||
      more.length > 0 ||
      one.how !== "iterate" ||
      !/parameters\(|\[["']params["']\]/.test(facts.file.textOf(one.value))
    )
      continue;
    if (!facts.hot(call) || isThrownAway(call, one.name, facts)) continue;
    const statement = call.parent;
    yield {
      at: call,
      message:
        "The gradients stay allocated through the next forward, are filled with zeros and then added to, instead of being freed and written",
      ...(statement?.kind === "ExprStmt"
        ? {
            fix: {
              grade: "unsafe" as const,
              title: "Let them be freed",
              edits: [{ start: grad.end, end: call.end, text: " = None" }],
            },
          }
        : {}),
    };
  }
}
