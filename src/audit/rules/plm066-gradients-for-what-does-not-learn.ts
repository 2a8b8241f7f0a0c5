import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { derivesFromInput } from "../facts/flow.ts";
import { isNetwork } from "../facts/networks.ts";
import { optimizerSteps } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM066",
    name: "gradients-for-what-does-not-learn",
    summary:
      "A network that does not learn in this step gets gradients all the same: computed, kept, perhaps used later",
    severity: "warning",
    fix: "none",
    patterns: [66],
  },
  *check(facts) {
    const seen = new Set<Node>();
    const trains = facts.backwards.length > 0;
    for (const finding of [
      ...(facts.networks.someOnlyEvaluated ? parts(facts) : []),
      ...(trains ? [...evaluated(facts), ...leftOut(facts), ...adversaries(facts)] : []),
    ]) {
      if (seen.has(finding.at as Node)) continue;
      seen.add(finding.at as Node);
      yield finding;
    }
  },
};

/** In eval mode and in no optimizer, with what a trained network made as its input: gradients pass through it, and into it. */
function* evaluated(facts: Facts): Generator<Finding> {
  for (const call of facts.file.all("Call")) {
    if (call.func.kind !== "Name" && call.func.kind !== "Attribute") continue;
    if (!facts.networks.isOnlyEvaluated(call.func) || !facts.everyStep(call) || facts.gradMode(call) !== "on")
      continue;
    if (!call.args.some((arg) => comesFromNetwork(arg.value, call.func, facts, new Set()))) continue;
    if (namedIn(facts.file.textOf(call.func), facts)) continue;
    yield {
      at: call,
      message: `Gradients must pass through \`${facts.file.textOf(call.func)}\`, but its parameters still require their own: each is computed and kept for nobody; \`requires_grad_(False)\` on it stops that`,
    };
  }
}

/** A part of a module, in eval mode from the start, through which its forward sends what it is given: a perceptual loss. */
function* parts(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.all("Call")) {
    const own = call.func.kind === "Attribute" ? selfAttribute(call.func) : null;
    const cls = own === null ? null : classOf(call);
    if (!cls || facts.role(cls) !== "module" || !facts.networks.isOnlyEvaluated(call.func)) continue;
    if (facts.gradMode(call) === "off" || !facts.hot(call)) continue;
    const detached = call.parent?.kind === "Attribute" && call.parent.attr === "detach";
    if (detached || /requires_grad|freeze|no_grad|inference_mode/.test(file.textOf(cls))) continue;
    if (!call.args.some((arg) => derivesFromInput(arg.value, facts))) continue;
    yield {
      at: call,
      severity: "note",
      message: `\`${file.textOf(call.func)}\` is in eval mode for good, yet its parameters still require gradients: where they pass through it, each of its own is computed too, unless it is frozen elsewhere`,
    };
  }
}

/** Handed to something that may freeze it: `freeze(vgg)`, an optimizer, a wrapper. */
function namedIn(name: string, facts: Facts): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    `\\b${escaped}\\.(?:requires_grad_|parameters|named_parameters)\\(|(?:freeze|requires_grad)\\w*\\(\\s*${escaped}\\b`,
  ).test(facts.file.text);
}

/** Not in the one optimizer whose parameters this function names, and nothing freezes it. */
function* leftOut(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const made of file.all("Call")) {
    if (!/^torch\.optim\.(?:\w+\.)*[A-Z]\w*$/.test(file.dotted(made.func) ?? "")) continue;
    const source = parametersOf(made.args[0]?.value ?? null);
    const fn = functionOf(made);
    if (!source || !fn || /requires_grad|freeze/.test(file.textOf(fn))) continue;
    const others = file
      .all("Call")
      .filter(
        (call) =>
          call !== made &&
          functionOf(call) === fn &&
          /^torch\.optim\.(?:\w+\.)*[A-Z]/.test(file.dotted(call.func) ?? ""),
      );
    if (others.length > 0) continue;
    for (const call of file.all("Call")) {
      if (
        functionOf(call) !== fn ||
        call.start < made.start ||
        !facts.stepLoop(call) ||
        facts.gradMode(call) !== "on"
      )
        continue;
      if ((call.func.kind !== "Name" && call.func.kind !== "Attribute") || !isNetwork(call.func, facts))
        continue;
      if (
        facts.networks.isLoss(call.func) ||
        facts.networks.isFrozen(call.func) ||
        !feedsBackward(call, facts)
      )
        continue;
      const callee = file.textOf(call.func);
      const optimised = file.textOf(source);
      const part = optimised.startsWith(`${callee}.`) && optimised !== `${callee}.module`;
      if (callee === optimised || (!part && !isOwnNetwork(call.func, fn, facts))) continue;
      if (!part && callee.startsWith(`${optimised}.`)) continue;
      yield {
        at: call,
        severity: "note",
        message: part
          ? `Only \`${optimised}\` is optimised; every other parameter of \`${callee}\` gets gradients that nobody uses or clears: freeze them with \`requires_grad_(False)\``
          : `\`${callee}\` is in no optimizer here, yet its graph is kept and its gradients are computed; run it under \`no_grad\`, or freeze it`,
      };
    }
  }
}

/** A parameter or variable of this very function: whether anything else trains it is seen here. */
function isOwnNetwork(callee: Expr, fn: Node, facts: Facts): boolean {
  if (callee.kind !== "Name") return false;
  const definitions = facts.file.scopes.lookup(callee)?.definitions ?? [];
  const [one] = definitions;
  // A driver holds the optimizer of what it wrapped: `engine, *_ = deepspeed.initialize(…)`.
  if (
    one?.value?.kind === "Call" &&
    /\b(?:initialize|prepare|setup)$/.test(facts.file.textOf(one.value.func))
  )
    return false;
  const mine = definitions.length === 1 && contains(fn, one!.node);
  // Its parameters named anywhere else: another optimizer may have them.
  return (
    mine &&
    !facts.file
      .all("Attribute")
      .some(
        (node) =>
          /^(?:named_)?parameters$/.test(node.attr) &&
          node.value.kind === "Name" &&
          node.value.id === callee.id,
      )
  );
}

function parametersOf(expr: Expr | null): Expr | null {
  return expr?.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "parameters"
    ? expr.func.value
    : null;
}

function feedsBackward(call: Call, facts: Facts): boolean {
  return facts.backwards.some(
    ({ call: backward, loss }) =>
      loss !== null &&
      functionOf(backward) === functionOf(call) &&
      reaches(loss, (node) => node === call, facts, new Set()),
  );
}

/** Two networks, two optimizers: what the second step's loss goes through gets gradients too. */
function* adversaries(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const loop of facts.stepLoops) {
    const steps = optimizerSteps(file).filter((call) => contains(loop, call));
    const receivers = new Set(
      steps.map((call) => (call.func.kind === "Attribute" ? file.textOf(call.func.value) : "")),
    );
    if (receivers.size < 2 || /requires_grad|toggle_optimizer/.test(file.textOf(loop))) continue;
    const found: Call[] = [];
    for (const { call: backward, loss } of facts.backwards)
      if (loss && contains(loop, backward)) collect(loss, loop, found, facts);
    for (const node of new Set(found))
      yield {
        at: node,
        severity: "note",
        message: `\`${file.textOf(node.func)}\` does not learn from this loss, yet all its gradients are computed and stay until they are cleared; \`requires_grad_(False)\` on it for this part saves both`,
      };
  }
}

/** Calls of a network that judges, in this loss, what another made, and earlier in the turn what was detached or real: that was its own step. */
function collect(loss: Expr, loop: Node, found: Call[], facts: Facts): void {
  const { file } = facts;
  reaches(
    loss,
    (node) => {
      if (node.kind !== "Call" || !isNetwork(node.func, facts) || facts.networks.isLoss(node.func))
        return false;
      const judge = file.textOf(node.func);
      const own = file
        .all("Call")
        .some(
          (other) =>
            other !== node &&
            contains(loop, other) &&
            other.start < node.start &&
            file.textOf(other.func) === judge &&
            other.args.every((arg) => !comesFromNetwork(arg.value, other.func, facts, new Set())),
        );
      if (own && node.args.some((arg) => comesFromNetwork(arg.value, node.func, facts, new Set())))
        found.push(node);
      return false;
    },
    facts,
    new Set(),
  );
}

/** Whether what an expression is computed from holds a node; detached parts do not count. */
function reaches(expr: Expr, is: (node: Node) => boolean, facts: Facts, seen: Set<Definition>): boolean {
  let found = false;
  walk(expr, (node) => {
    if (found || node.kind === "Lambda") return false;
    if (is(node)) {
      found = true;
      return false;
    }
    if (node.kind === "Call" && node.func.kind === "Attribute" && node.func.attr === "detach") return false;
    if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node)) {
        if (seen.has(one) || one.how === "param" || !one.value) continue;
        seen.add(one);
        if (reaches(one.value, is, facts, seen)) found = true;
      }
    return !found;
  });
  return found;
}

/** What another network computed, with its graph. */
function comesFromNetwork(expr: Expr, except: Expr, facts: Facts, seen: Set<Definition>): boolean {
  const own = facts.file.textOf(except);
  return reaches(
    expr,
    (node) =>
      node.kind === "Call" &&
      (node.func.kind === "Name" || node.func.kind === "Attribute") &&
      facts.file.textOf(node.func) !== own &&
      isNetwork(node.func, facts) &&
      !facts.networks.isFrozen(node.func) &&
      facts.gradMode(node) !== "off",
    facts,
    seen,
  );
}
