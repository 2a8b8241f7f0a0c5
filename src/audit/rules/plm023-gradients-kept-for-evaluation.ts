import { blockOf, classOf, contains, functionOf, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM023",
    name: "gradients-kept-for-evaluation",
    summary: "The last step's gradients stay allocated while the model is evaluated",
    severity: "note",
    fix: "unsafe",
    patterns: [23],
  },
  *check(facts) {
    if (facts.backwards.length === 0) return;
    const { file } = facts;
    const leave = new Set<string>();
    for (const loop of facts.stepLoops) {
      const clear = leftUncleared(loop, facts);
      if (!clear) {
        yield* betweenStepAndClearing(loop, facts);
        continue;
      }
      const fn = functionOf(loop);
      if (fn?.kind === "FunctionDef") leave.add(file.qualified(fn));
      yield* evaluations(restOf(loop), clear, facts);
      const phases = loopsAround(loop)[0];
      if (phases?.kind === "For" && isPhases(phases.iter))
        yield {
          at: clear,
          message:
            "The last step's gradients, as large as the trainable parameters, stay allocated during the phase that evaluates; call `zero_grad()` after the step instead",
        };
      // Now and then, inside the loop itself, after the step.
      const step = optimizerSteps(file).findLast((call) => contains(loop, call));
      const after = loop.body.findIndex((one) => step && contains(one, step));
      yield* evaluations(loop.body.slice(after + 1), clear, facts);
    }
    // Between the backward and the step that uses its gradients.
    for (const { call } of facts.backwards) {
      const statement = statementOf(call);
      const rest = statement && facts.stepLoop(call) ? restOf(statement) : [];
      const until = rest.findIndex((one) => optimizerSteps(file).some((step) => contains(one, step)));
      if (until > 0) yield* evaluations(rest.slice(0, until), null, facts);
    }
    // A step that is a function of its own, as of a whole graph.
    for (const step of optimizerSteps(file)) {
      const statement = loopsAround(step).length === 0 && facts.hot(step) ? statementOf(step) : null;
      if (statement) yield* evaluations(restOf(statement), null, facts);
    }
    // A function that trains an epoch, and what its caller does next.
    for (const call of file.all("Call")) {
      const statement = statementOf(call);
      if (leave.size === 0 || !statement || !leave.has(target(call, facts))) continue;
      yield* evaluations(restOf(statement), null, facts);
    }
  },
};

/** `optimizer.step()`, an evaluation now and then, and only then `zero_grad()`. */
function* betweenStepAndClearing(loop: Loop, facts: Facts): Generator<Finding> {
  const step = optimizerSteps(facts.file).findLast(
    (call) => contains(loop, call) && functionOf(call) === functionOf(loop),
  );
  const statement = step && statementOf(step);
  const clears = facts.file.callsNamed("zero_grad").filter((call) => contains(loop, call));
  if (!statement || clears.length === 0 || clears.some((call) => call.start < statement.end)) return;
  yield* evaluations(restOf(statement), null, facts);
}

/** `for phase in ["train", "val"]:` */
function isPhases(iter: Expr): boolean {
  return (
    (iter.kind === "List" || iter.kind === "Tuple") &&
    iter.items.length > 1 &&
    iter.items.some(
      (item) => item.kind === "Str" && /^(?:val|valid|validation|test|eval|dev)$/.test(item.value ?? ""),
    )
  );
}

/** `train_epoch(…)`, `self.train_epoch()`. */
function target(call: Call, { file }: Facts): string {
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  return cls ? `${file.qualified(cls)}.${own}` : (file.dotted(call.func) ?? "");
}

/** The call that clears gradients before each forward or backward, when none does after the step. */
function leftUncleared(loop: Loop, facts: Facts): Call | null {
  const { file } = facts;
  const step = optimizerSteps(file).find(
    (call) => contains(loop, call) && functionOf(call) === functionOf(loop),
  );
  // The last of several: each of two optimizers is cleared before its own.
  const backward = facts.backwards.findLast(({ call }) => contains(loop, call));
  if (!backward || (!step && !updatesByHand(loop, facts))) return null;
  const clears = file
    .callsNamed("zero_grad")
    .filter(
      (call) => call.func.kind === "Attribute" && call.func.attr === "zero_grad" && contains(loop, call),
    );
  return clears.length > 0 && clears.every((call) => call.start < backward.call.start) ? clears[0]! : null;
}

/** `p.data.add_(p.grad, alpha=-lr)` in place of an optimizer. */
function updatesByHand(loop: Loop, { file }: Facts): boolean {
  return (
    file.callsNamed("zero_grad").length > 0 &&
    file.all("Attribute").some((node) => node.attr === "grad" && contains(loop, node))
  );
}

function restOf(statement: Stmt): readonly Stmt[] {
  const block = blockOf(statement);
  return block ? block.slice(block.indexOf(statement) + 1) : [];
}

function* evaluations(statements: readonly Stmt[], clear: Call | null, facts: Facts): Generator<Finding> {
  const evaluation = firstEvaluation(statements, facts);
  const statement = evaluation && statementOf(evaluation);
  if (!evaluation || !statement) return;
  const { file } = facts;
  const start = file.lines.start(file.lines.line(statement.start));
  const indent = indentAt(file, statement.start);
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  yield {
    at: evaluation,
    message:
      "The last step's gradients, as large as the trainable parameters, stay allocated during the evaluation; call `zero_grad()` after the step instead",
    ...(clear && file.text.slice(start, statement.start) === indent
      ? {
          fix: {
            grade: "unsafe" as const,
            title: "Clear them before",
            edits: [
              {
                start: statement.start,
                end: statement.start,
                text: `${file.textOf(clear)}${ending}${indent}`,
              },
            ],
          },
        }
      : {}),
  };
}

/** The first call that evaluates, with nothing that clears before it: `evaluate(model, …)`, `validate(…)`, `model.eval()`. */
function firstEvaluation(statements: readonly Stmt[], facts: Facts): Call | null {
  let found: Call | null = null;
  let cleared = false;
  for (const statement of statements)
    walk(statement, (node) => {
      if (node.kind === "FunctionDef" || node.kind === "ClassDef" || found || cleared) return false;
      if (node.kind !== "Call") return true;
      const text = facts.file.textOf(node.func).slice(-60);
      if (/(?:^|\.)zero_grad$/.test(text)) cleared = true;
      else if (
        (/(?:^|[._])(?:eval|evaluate|evaluation|valid|validate|validation|test|run_validation|estimate_loss)(?:_\w+)?$/.test(
          text,
        ) &&
          (node.args.length > 0 || text.startsWith("self.") || /estimate_loss/.test(text)) &&
          facts.callee(node)?.reachesBackward !== true) ||
        (node.func.kind === "Attribute" && node.func.attr === "eval" && node.args.length === 0) ||
        switchesToEvaluation(node, facts)
      )
        found = node;
      return found === null;
    });
  return found;
}

/** `sample(model, prompt)` of this file, or `self.probe(loader)`, which puts what it is given into eval mode. */
function switchesToEvaluation(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const [one, ...more] = call.func.kind === "Name" ? (file.scopes.lookup(call.func)?.definitions ?? []) : [];
  const fn = cls ? methodsOf(cls).find(({ name }) => name === own) : more.length === 0 ? one?.node : null;
  return (
    fn?.kind === "FunctionDef" &&
    file
      .callsNamed("eval")
      .some((mode) => functionOf(mode) === fn && mode.func.kind === "Attribute" && mode.args.length === 0) &&
    facts.callee(call)?.reachesBackward !== true
  );
}
