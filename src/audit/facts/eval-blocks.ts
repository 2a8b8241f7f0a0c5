import { blockOf, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Node, Stmt } from "../../python/tree.ts";
import { feedsBackward } from "./behind-loss.ts";
import { DIFFERENTIATES, MEASURES } from "./evaluation-calls.ts";
import type { Facts } from "./facts.ts";
import { isOtherBranch } from "./guards.ts";
import { SHOWS, unrecorded } from "./looks.ts";
import { ranByMethod } from "./network-runs.ts";
import { callTarget } from "./summary.ts";
import type { Loop } from "./training.ts";

/** `model.eval()` as a statement, with what stands beside it in its block. */
interface Switch {
  /** The network, as it is written. */
  readonly network: string;
  readonly at: Call;
  /** Up to where the network is switched back. */
  readonly below: readonly Stmt[];
  /** Whether it is, in the same block. */
  readonly isBack: boolean;
}

function* switches({ file }: Facts): Generator<Switch> {
  for (const at of file.callsNamed("eval")) {
    const statement = statementOf(at);
    const block = statement && blockOf(statement);
    if (at.func.kind !== "Attribute" || at.args.length > 0 || !block) continue;
    const network = file.textOf(at.func.value);
    const place = block.indexOf(statement);
    const rest = block.slice(place + 1);
    const back = rest.findIndex((one) => file.codeOf(one).includes(`${network}.train(`));
    yield { network, at, below: back < 0 ? rest : rest.slice(0, back), isBack: back >= 0 };
  }
}

/** What compares outputs with labels, and gives numbers. */
const SCORES = /(?:^|[^a-z])(?:accuracy|acc|f1|auc|auroc|scores?|metrics?|evaluate)(?:_\w+)?\(/i;

/**
 * `for batch in loader: …`, which trains, and below it `model.eval(); clean = model(x)`, of which only numbers are read, or
 * pictures drawn: a look after each epoch, or after the last.
 */
export function* looksAfterSteps(facts: Facts): Generator<Call> {
  const { file, stepLoops } = facts;
  for (const { network, at, below } of switches(facts)) {
    const fn = functionOf(at);
    const isDone = (loop: Node): boolean =>
      loop.end < at.start && functionOf(loop) === fn && !isOtherBranch(loop, at);
    if (![...stepLoops].some(isDone)) continue;
    if (facts.backwards.some(({ call }) => call.start > at.start && functionOf(call) === fn)) continue;
    const run = below
      .flatMap(ranOnce)
      .find(
        (call) =>
          file.textOf(call.func) === network ||
          ranByMethod(call, { has: (text) => text === network }, facts) !== null,
      );
    const [target] = run?.parent?.kind === "Assign" ? run.parent.targets : [];
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    const uses = made ? file.scopes.uses(made) : [];
    if (!run || uses.length === 0 || unrecorded(run, facts)) continue;
    // Handed back, somebody may differentiate it.
    if (uses.some((use) => statementOf(use)?.kind === "Return")) continue;
    const code = below.map((one) => file.codeOf(one)).join("\n");
    if ((MEASURES.test(code) || SCORES.test(code) || SHOWS.test(code)) && !DIFFERENTIATES.test(code))
      yield run;
  }
}

/** `model.eval(); right = model(x).argmax(1) == y; model.train()` in every step, of which only numbers are read. */
export function* looksInSteps(facts: Facts): Generator<Call> {
  const { file, stepLoops } = facts;
  for (const { network, at, below, isBack } of switches(facts)) {
    const loop = statementOf(at)?.parent;
    if (!isBack || !loop || !stepLoops.has(loop as Loop)) continue;
    const isBelow = (node: Node): boolean => below.some((one) => contains(one, node));
    const code = below.map((one) => file.codeOf(one)).join("\n");
    if (DIFFERENTIATES.test(code) || !(MEASURES.test(code) || SCORES.test(code) || SHOWS.test(code)))
      continue;
    if (facts.backwards.some(({ call }) => isBelow(call))) continue;
    const run = below
      .flatMap(callsIn)
      .find(({ func }) => file.textOf(func) === network && !facts.networks.isFrozenByFlags(func));
    if (run && !unrecorded(run, facts) && !feedsBackward(run, facts)) yield run;
  }
}

/**
 * `model.eval(); scores = evaluate(data, model)`, of a function of another file that leaves it to who calls it whether anything
 * is recorded: somebody else switches that off around it, and here nobody does.
 */
export function* handedOver(facts: Facts): Generator<{ readonly call: Call; readonly network: string }> {
  const { file } = facts;
  for (const { network, below } of switches(facts))
    for (const call of below.flatMap(callsIn)) {
      if (!call.args.some(({ value }) => file.textOf(value) === network)) continue;
      const callee = facts.callee(call);
      if (callee?.unguarded !== true || callee.callersGradOff !== "sometimes") continue;
      if (!file.functionNamed(callTarget(call, file)) && !unrecorded(call, facts)) yield { call, network };
    }
}

/**
 * `total += pair_loss(model, batch).item()` after `model.eval()`: a function of another file, of which the training differentiates
 * what it hands back, of the same network.
 */
export function isLossOfOff(
  call: Call,
  off: { readonly has: (text: string) => boolean },
  facts: Facts,
): boolean {
  const { file } = facts;
  const name = file.dotted(call.func);
  if (name === null || name.startsWith("torch.") || file.functionNamed(callTarget(call, file))) return false;
  const handed = call.args.flatMap(({ star, value }) => {
    const text = star === 0 ? file.textOf(value) : "";
    return off.has(text) && !facts.networks.isFrozenByFlags(value) ? [text] : [];
  });
  const isLearning = (other: Call): boolean =>
    other !== call &&
    file.dotted(other.func) === name &&
    other.args.some(({ value }) => handed.includes(file.textOf(value))) &&
    // `pair_loss(model, batch, train=False)` may record nothing.
    other.args.length === call.args.length &&
    call.args.every(
      ({ name: key, value }, at) =>
        other.args[at]!.name === key &&
        ((value.kind !== "Const" && value.kind !== "Str") ||
          file.textOf(value) === file.textOf(other.args[at]!.value)),
    ) &&
    feedsBackward(other, facts);
  return (
    handed.length > 0 && file.callsNamed(lastWord(call.func)).some(isLearning) && !unrecorded(call, facts)
  );
}

/** `made = run(x)` of a statement, also under `if` and `with`; what is run in a loop is judged with that. */
function ranOnce(statement: Node): readonly Call[] {
  const found: Call[] = [];
  walk(statement, (node) => {
    if (node.kind === "Assign" && node.value.kind === "Call") found.push(node.value);
    return node.kind === "If" || node.kind === "With";
  });
  return found;
}

function callsIn(statement: Node): readonly Call[] {
  const found: Call[] = [];
  walk(statement, (node) => {
    if (node.kind === "Call") found.push(node);
    return true;
  });
  return found;
}
