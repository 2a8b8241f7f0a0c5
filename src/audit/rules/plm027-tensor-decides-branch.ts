import { isNone, isTrue } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, If, Node, NodeOf } from "../../python/tree.ts";
import { assignsOfKind } from "../facts/assigns.ts";
import { everyTurn } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { isAskedAfterRead } from "../facts/echoes.ts";
import { decidesStep } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

const WAITS =
  "Python must know this device value before it can go on: the host waits, on every step, until all queued work is done";

const ASKS =
  "Python must know this device value before it can go on: one more round trip on every step, after a read that has waited";

export const rule: Rule = {
  meta: {
    code: "PLM027",
    name: "tensor-decides-branch",
    summary: "Python branches on a device tensor, or compares device tensors with max or min, on every step",
    severity: "warning",
    fix: "unsafe",
    patterns: [27],
    onDevice: "file",
  },
  *check(facts) {
    const { file } = facts;
    // `training_args.logging_nan_inf_filter = True`
    for (const { targets, value } of assignsOfKind("Attribute", file))
      if (isTrue(value) && lastWord(targets[0]!) === "logging_nan_inf_filter")
        yield {
          at: value,
          severity: "note",
          message: FILTER,
          fix: {
            grade: "unsafe",
            title: "Switch it off",
            edits: [{ start: value.start, end: value.end, text: "False" }],
          },
        };
    for (const call of file.calls.given(["logging_nan_inf_filter"])) {
      const name = file.dotted(call.func);
      const filter = call.args.find((arg) => arg.name === "logging_nan_inf_filter");
      if (
        filter?.value.kind === "Const" &&
        filter.value.value === true &&
        /^(?:transformers|trl)\./.test(name ?? "")
      )
        yield {
          at: filter,
          severity: "note",
          message: FILTER,
          fix: {
            grade: "unsafe",
            title: "Switch it off",
            edits: [{ start: filter.value.start, end: filter.value.end, text: "False" }],
          },
        };
    }
    // The rest is about what runs in a step.
    if (!facts.anyHot) return;
    for (const nodes of [file.all("If"), file.all("While"), file.all("IfExp"), file.all("Assert")])
      for (const node of nodes) {
        if (!facts.mayBeHot(node)) continue;
        const certain = judge(node.test, node, facts) ?? judgeLater(node.test, node, facts);
        const at = certain ?? countAsked(node.test, node, facts);
        if (!at) continue;
        const echo = node.kind === "If" && "parent" in at && isAskedAfterRead(at as Expr, facts);
        yield {
          at,
          ...(!certain ||
          echo ||
          (node.kind === "If" && (decidesStep(node, facts.backwards) || keepsBest(node)))
            ? { severity: "note" as const }
            : {}),
          message: echo ? ASKS : WAITS,
        };
      }
    // `return not torch.isfinite(loss)`: its truth is asked for in any case.
    for (const values of [file.all("Unary"), file.all("Bool")])
      for (const value of values) {
        const node = value.parent;
        if ((node?.kind !== "Return" && node?.kind !== "Assign") || node.value !== value) continue;
        const asked = askedIn(value);
        const at = asked && judge(asked, node, facts);
        if (at)
          yield {
            at,
            message: WAITS,
          };
      }
    for (const call of file.callsNamed("max", "min", "bool")) {
      const name = file.dotted(call.func);
      const compared = comparedBy(call);
      const isThere = compared.some((one) => facts.onAccelerator(one));
      const maybe = (one: Expr): boolean =>
        isCountInStep(one, call, facts) ||
        isLossElsewhere(one, facts) ||
        choicesOf(one, facts).some((each) => facts.onAccelerator(each) || isCountInStep(each, call, facts));
      if (
        (name === "builtins.max" || name === "builtins.min") &&
        (isThere || compared.some(maybe)) &&
        everyTurn(call, facts)
      )
        yield {
          at: call,
          ...(isThere ? {} : { severity: "note" as const }),
          message: `Python's \`${name.slice(9)}\` compares device tensors on the host, with a wait, on every step${
            isForNumber(call, facts)
              ? ""
              : call.args.length === 1
                ? `; \`torch.stack\` and then \`${name.slice(9)}\` do it on the device`
                : `; \`torch.${name === "builtins.max" ? "maximum" : "minimum"}\` does it on the device`
          }`,
        };
      if (
        name === "builtins.bool" &&
        call.args.length === 1 &&
        facts.onAccelerator(call.args[0]!.value) &&
        everyTurn(call, facts)
      )
        yield {
          at: call,
          message: WAITS,
        };
    }
  },
  *checkConfig(config) {
    for (const setting of config.named("logging_nan_inf_filter"))
      if (setting.value === true)
        yield {
          at: setting.valueAt,
          severity: "note",
          message: FILTER,
          fix: { grade: "unsafe", title: "Switch it off", edits: [{ ...setting.valueAt, text: "false" }] },
        };
  },
};

/** `if val_loss < best_loss: best_loss = val_loss`, of a validation: who chooses by it has to know it. */
function keepsBest({ test, body }: If): boolean {
  if (test.kind !== "Compare" || test.rights.length !== 1) return false;
  const sides = [test.left, test.rights[0]!];
  const best = sides.find((side) => /(?:^|_)(?:best|lowest|highest)/i.test(lastWord(side)));
  const found = sides.find(
    (side) => side !== best && /(?:^|_)(?:val|valid|dev|test|eval)/i.test(lastWord(side)),
  );
  return (
    best !== undefined &&
    found !== undefined &&
    body.some(
      (one) =>
        one.kind === "Assign" &&
        one.targets.some((target) => lastWord(target) === lastWord(best)) &&
        lastWord(one.value) === lastWord(found),
    )
  );
}

const FILTER =
  "The filter tests the loss for NaN on the host after every micro-step, and waits for the device each time";

/** `torch.randint(0, max(1, n), …)`: a size or a bound, which must be a number in any case. */
function isForNumber({ parent }: Node, { file }: Facts): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return (
    call?.kind === "Call" &&
    /^(?:builtins\.(?:range|int|float)|torch\.(?:randint|arange|zeros|ones|empty|full|linspace|randperm)|random\..*|numpy\..*)$/.test(
      file.dotted(call.func) ?? "",
    )
  );
}

/**
 * `max((labels != pad).sum(), 1)`, also under a name, in a module's forward or in a loss: they run where the network is, and
 * so, most likely, does what is counted.
 */
function isCountInStep(expr: Expr, by: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  if (what !== "tensor" || device !== "unknown" || !facts.accelerator || !isCount(expr, facts)) return false;
  const hot = facts.hot(expr);
  return hot !== null && (/\bforward\b/.test(hot.why) || isOfLoss(expr) || dividesTensor(by, facts));
}

/** `count = mask.sum() if mask is not None else losses.size(0)`, also written as two branches: each of what it may be. */
function choicesOf(expr: Expr, { file }: Facts): readonly Expr[] {
  const made =
    expr.kind === "Name"
      ? file.scopes.reaching(expr).map(({ how, value }) => (how === "assign" ? value : null))
      : [expr];
  const all = made.flatMap((one) => (one?.kind === "IfExp" ? [one.body, one.orelse] : one ? [one] : []));
  return all.length > 1 ? all : [];
}

/** What is computed here, by itself or under a name. */
function isCount(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Name") return expr.kind === "Call";
  const [one, ...more] = file.scopes.reaching(expr);
  return one?.how === "assign" && one.value?.kind === "Call" && more.length === 0;
}

/** In `def chunked_cross_entropy(logits, targets):` */
function isOfLoss(node: Node): boolean {
  const fn = functionOf(node);
  return fn?.kind === "FunctionDef" && LOSS.test(fn.name);
}

/** `errors.sum() / max(1, count)`, also under a name: what a tensor is divided by is hardly anywhere else. */
function dividesTensor(by: Expr, facts: Facts): boolean {
  const { file } = facts;
  const { parent } = by;
  const [target] = parent?.kind === "Assign" && parent.value === by ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return [by, ...(made ? file.scopes.uses(made) : [])].some(
    ({ parent: over }, at, all) =>
      over?.kind === "Binary" &&
      over.op === "/" &&
      over.right === all[at] &&
      facts.value(over.left).what === "tensor",
  );
}

/** `max(a, b)`, `max([a, b])`, `max(measure(x) for x in views)`; with a key it compares something else. */
function comparedBy({ args }: Call): readonly Expr[] {
  if (args.some(({ name }) => name === "key")) return [];
  const [first, ...more] = args.filter(({ name, star }) => name === null && star === 0);
  if (more.length > 0) return args.map(({ value }) => value);
  const all = first?.value;
  if (all?.kind === "List" || all?.kind === "Tuple") return all.items.length > 1 ? all.items : [];
  return all?.kind === "Comp" && all.value === null ? [all.element] : [];
}

const LOSS = /loss|criterion|(?:^|_)(?:nll|kl|ce|mse|bce|divergence|penalty)$|cross_entropy/i;

/** `spread_loss(features)` of another file, given what a network on the device computed: hardly ever a number. */
function isLossElsewhere(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  return (
    made?.kind === "Call" &&
    LOSS.test(lastWord(made.func)) &&
    facts.value(made).what === "unknown" &&
    facts.callee(made)?.reads !== true &&
    made.args.some(({ value }) => facts.onAccelerator(value) && facts.value(value).graph === "yes")
  );
}

function isPresence(expr: Expr): boolean {
  const right = expr.kind === "Compare" && expr.ops[0] === "is not" ? expr.rights[0] : undefined;
  return isNone(right);
}

/** `loss, extra = model(x)`, and `if extra != 0:`: where there is none it is a number. */
function isBeside(test: Expr, { file }: Facts): boolean {
  return (
    test.kind === "Compare" &&
    test.ops[0] === "!=" &&
    test.left.kind === "Name" &&
    test.rights[0]?.kind === "Num" &&
    file.scopes.reaching(test.left).some(({ how, index }) => how === "unpack" && index !== null && index > 0)
  );
}

/** What of a value is asked for its truth: `not t`, and the first of `a.any() or b.any()`. */
function askedIn(value: NodeOf<"Unary" | "Bool">): Expr | null {
  if (value.kind === "Unary") return value.op === "not" ? value : null;
  const [first] = value.values;
  return first?.kind === "Call" || first?.kind === "Compare" || first?.kind === "Unary" ? first : null;
}

/** `if count == 0:` of what a loss counts, `count = (targets != ignored).sum()`. */
function countAsked(test: Expr, node: Node, facts: Facts): Expr | null {
  const asked =
    test.kind === "Unary" && test.op === "not"
      ? test.operand
      : test.kind === "Compare" && test.rights.length === 1 && test.rights[0]!.kind === "Num"
        ? test.left
        : test;
  return isOfLoss(node) && isCountInStep(asked, test, facts) && everyTurn(node, facts) ? test : null;
}

/** `if self.attention:`, `if args.cache_latents:`, `if labels:`: asked whether there is any, unless it is computed under that name. */
function isFlag(expr: Expr, { file }: Facts): boolean {
  if (expr.kind === "Attribute" || expr.kind === "Subscript") return true;
  if (expr.kind !== "Name") return false;
  const made = file.scopes.reaching(expr);
  return !made.some(
    ({ how, value }) => how === "assign" && /^(?:Call|Compare|Unary|Binary|Bool)$/.test(value?.kind ?? ""),
  );
}

/** `keys.size(2) == v_dim`: what is compared with a size, and not computed here, is one. */
function isOfSizes(test: Expr): boolean {
  if (test.kind !== "Compare" || test.rights.length !== 1) return false;
  const sides = [test.left, test.rights[0]!];
  return (
    sides.some((one) => one.kind === "Call" && one.func.kind === "Attribute" && one.func.attr === "size") &&
    sides.some(({ kind }) => kind === "Name" || kind === "Attribute")
  );
}

/** What most steps do not go past. */
const SELDOM = /%|debug|verbose|check|strict|anomaly|first|dtype/i;

/** `step > 0 and torch.isnan(loss)`: what stands further on is looked at on most steps, unless a throttle or a switch is before it. */
function judgeLater(test: Expr, node: Node, facts: Facts): Expr | null {
  if (!facts.guesses || test.kind !== "Bool") return null;
  for (const value of test.values) {
    const found = judge(value, node, facts);
    if (found) return found;
    if (SELDOM.test(facts.file.textOf(value))) return null;
  }
  return null;
}

/** The operand of a test that is a device tensor. */
function judge(test: Expr, node: Node, facts: Facts): Expr | null {
  // What stands after `and` or `or` is looked at only sometimes.
  // `p.grad is not None and …` is asked of what is hardly ever missing.
  const operand =
    test.kind === "Bool" ? (test.values.find((one) => test.op === "or" || !isPresence(one)) ?? test) : test;
  if (
    operand.kind === "Const" ||
    (operand.kind === "Compare" && /^(?:is|in|not in|is not)$/.test(operand.ops[0]!))
  )
    return null;
  const inner = operand.kind === "Unary" && operand.op === "not" ? operand.operand : operand;
  if (facts.guesses && (isFlag(inner, facts) || isOfSizes(inner))) return null;
  // `torch.allclose(a, b)` is a Python bool, read from the device.
  if (
    inner.kind === "Call" &&
    /^torch\.(?:allclose|equal|is_nonzero)$/.test(facts.file.dotted(inner.func) ?? "") &&
    inner.args.some((arg) => facts.onAccelerator(arg.value))
  )
    return everyTurn(node, facts) ? operand : null;
  // What a network was fed or returned may be a structure, whose truth is its length.
  return facts.value(inner).what === "tensor" &&
    facts.onAccelerator(inner) &&
    everyTurn(node, facts) &&
    !isBeside(inner, facts)
    ? operand
    : null;
}
