import { isTrue, keyword } from "../../python/file.ts";
import { classOf, contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Expr, For, FunctionDef, Node } from "../../python/tree.ts";
import { callOf, definitionsOf, turnOf } from "../facts/called-keeps.ts";
import { isCutByCallable } from "../facts/beside-results.ts";
import type { Facts } from "../facts/facts.ts";
import { detach } from "../facts/on-tensor.ts";
import { grownElsewhere } from "../facts/grown-parameters.ts";
import { isBackwarded } from "../facts/backwarded.ts";
import {
  isDifferentiatedItself,
  isFirst,
  isRescaled,
  isReset,
  keeps,
  keepsGraph,
  keepsOfCalls,
  keptForBackward,
} from "../facts/kept.ts";
import type { Keep } from "../facts/kept.ts";
import { isOfParts, likelyKeeps } from "../facts/likely-keeps.ts";
import { keptArguments } from "../facts/keepers.ts";
import { recordedArguments, recordedKeeps } from "../facts/recorded-keeps.ts";
import { returnedToTrainer } from "../facts/returned-to-trainer.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM001",
    name: "summed-loss-keeps-graph",
    summary: "A loss with its graph is added to a running sum that is never differentiated",
    severity: "error",
    fix: "safe",
    patterns: [1, 18],
    inTraining: true,
  },
  *check(facts) {
    for (const keep of [...keeps(facts), ...keepsOfCalls(facts)]) {
      if (keep.how !== "sum" || isStatisticOfModule(keep.root, facts)) continue;
      const { added, at, root } = keep;
      if (
        facts.guesses &&
        (isOfParts(keep, keep.loop, facts) || isBegunAbove(keep, facts) || isCutByCallable(added, facts.file))
      )
        continue;
      // The scores of a hypothesis are summed for one sentence.
      const fn = functionOf(at);
      if (fn?.kind === "FunctionDef" && /decod|search|generat|rescor|beam/i.test(fn.name)) continue;
      if (facts.gradMode(at) === "off" || !keepsGraph(added, facts)) continue;
      if (isOfFew(keep, facts) || isOfForward(keep, facts)) continue;
      const freed = isBackwarded(added, turnOf(keep), facts);
      if ((!freed && keptForBackward(keep, facts)) || isDifferentiatedItself(keep, facts)) continue;
      // Begun anew inside the loop: a few graph nodes, or what one step has, until the next step.
      if ((freed && isRebegun(keep, facts)) || isOfMicroSteps(keep, facts)) continue;
      const name = facts.file.textOf(root);
      const retained = freed && isRetained(keep, facts);
      yield {
        at,
        severity: freed && !retained ? "warning" : "error",
        message: retained
          ? `\`${name}\` keeps every step's whole graph, activations included, alive: \`retain_graph=True\` has backward free nothing`
          : freed
            ? `\`${name}\` keeps the graph nodes of every step's loss alive${isNowAndThen(keep, facts) ? " until it is begun anew" : ""}; their tensors are freed by backward, the nodes are not`
            : `\`${name}\` keeps every turn's whole graph, activations included, alive: memory grows until it runs out`,
        fix: { grade: "safe", title: "Detach what is added", edits: detach(added, facts) },
      };
    }
    for (const keep of grownElsewhere(facts, "sum")) {
      if (isOfFew(keep, facts) || isDifferentiatedItself(keep, facts)) continue;
      if (isRebegun(keep, facts) || isOfMicroSteps(keep, facts)) continue;
      yield {
        at: keep.added,
        severity: "warning",
        message: `\`${keep.root.id}\` keeps the graph nodes of every step's loss alive: the function that it is handed to adds the loss with its graph`,
      };
    }
    for (const { arg, into, isDict } of keptArguments(facts, "sum")) {
      if (isReport(arg, facts)) continue;
      if (isDict)
        yield {
          at: arg,
          severity: "note",
          message: `\`${into}\` adds what is in this to sums it keeps, with the graphs that come with it`,
        };
      else
        yield {
          at: arg,
          severity: "warning",
          message: `\`${into}\` adds this to a sum it keeps, with the graph that comes with it`,
          fix: { grade: "safe", title: "Detach what is added", edits: detach(arg, facts) },
        };
    }
    for (const { at, how, root } of recordedKeeps(facts))
      if (how === "sum")
        yield {
          at,
          message: `\`${facts.file.textOf(root)}\` keeps every batch's whole graph, activations included, alive: nothing frees what this evaluation records`,
        };
    for (const { added, into } of recordedArguments(facts))
      yield {
        at: added,
        message: `\`${into}\` adds this to a sum it keeps, with the whole graph that comes with it: nothing frees what this evaluation records`,
      };
    for (const loss of returnedToTrainer(facts))
      yield {
        at: loss,
        severity: "warning",
        message: `The Trainer adds what \`training_step\` returns to its running sum: \`${loss.id}\` brings its graph, and the nodes of every step stay`,
        fix: { grade: "safe", title: "Detach what is returned", edits: detach(loss, facts) },
      };
    for (const keep of likelyKeeps(facts)) {
      if (keep.how !== "sum" || isStatisticOfModule(keep.root, facts) || isOfFew(keep, facts)) continue;
      if (isRebegun(keep, facts) || isOfMicroSteps(keep, facts)) continue;
      if (isCutByCallable(keep.added, facts.file)) continue;
      yield {
        at: keep.at,
        message: `\`${facts.file.textOf(keep.root)}\` keeps the graph nodes of every step's loss alive`,
      };
    }
  },
};

/** A module's own running statistic is another rule's matter. */
function isStatisticOfModule(root: Parameters<Facts["value"]>[0], facts: Facts): boolean {
  if (root.kind === "Name") return false;
  const cls = classOf(root);
  return cls !== null && facts.role(cls) === "module";
}

/** Every backward of the loop is told to keep the graph it goes through. */
function isRetained(keep: Keep, { backwards }: Facts): boolean {
  const turn = turnOf(keep);
  const here = backwards.filter(({ call }) => turn !== null && contains(turn, call));
  return here.length > 0 && here.every(({ call }) => isTrue(keyword(call, "retain_graph")?.value ?? null));
}

/** `if step % 100 == 99: running = 0.0` */
function isNowAndThen(keep: Keep, facts: Facts): boolean {
  return (
    keep.loop !== null &&
    definitionsOf(keep, facts).some(
      (one) => one.how !== "augment" && turnsOf(keep).some((turn) => isReset(one, turn)),
    )
  );
}

/** The loop, and the function by which it sums. */
function turnsOf(keep: Keep): readonly (Loop | FunctionDef)[] {
  const fn = callOf(keep) ? functionOf(keep.at) : null;
  return [...(keep.loop ? [keep.loop] : []), ...(fn?.kind === "FunctionDef" ? [fn] : [])];
}

function isRebegun(keep: Keep, facts: Facts): boolean {
  const { root, at, loop } = keep;
  if (root.kind !== "Name" || !loop) return false;
  const turns = turnsOf(keep);
  // In this loop, or in one over batches around it.
  const around = loopsAround(loop)[0];
  const batches =
    around?.kind === "For" &&
    /load|batch|data/i.test(facts.file.textOf(around.iter)) &&
    !isOverLoaders(around, facts)
      ? around
      : loop;
  return definitionsOf(keep, facts).some(
    (one) =>
      one.how !== "augment" &&
      [batches, ...turns].some((turn) => contains(turn, one.node)) &&
      !contains(at, one.node) &&
      !isRescaled(one) &&
      !isFirst(one, at) &&
      // Now and then is after many steps, unless it is with the optimizer's.
      (!turns.some((turn) => isReset(one, turn)) ||
        turns.some((turn) => contains(turn, one.node) && isWithStep(one.node, turn, facts))),
  );
}

/** `for mode, loader in zip(["train", "eval"], [train_loader, test_loader]):` takes a loader a turn, and with it a whole epoch. */
function isOverLoaders({ target, iter }: For, { file }: Facts): boolean {
  const over = file.textOf(iter);
  return (
    namesIn(target).some(({ id }) => /(?:loader|_dl|data_?set)$/i.test(id)) ||
    /(?:loaders|_dls|data_?sets)(?:\.(?:items|values)\(\))?\W*$/i.test(over) ||
    // `{"train": train_loader, "test": test_loader}.items()`
    /[[{][^\]}]*(?:loader|_dl)\b[^\]}]*(?:loader|_dl)\b/i.test(over)
  );
}

/** A sum that a module's forward begins, over its heads, goes when that returns, or is handed to whoever differentiates it. */
function isOfForward({ root }: Keep, facts: Facts): boolean {
  const fn = root.kind === "Name" ? functionOf(root) : null;
  const cls = fn?.kind === "FunctionDef" && fn.name === "forward" ? classOf(fn) : null;
  return cls !== null && facts.role(cls) === "module";
}

/** `for loss in [a, b, c]:` adds up what one step has. */
function isOfFew({ loop }: Keep, facts: Facts): boolean {
  if (loop?.kind !== "For") return false;
  const over = loop.iter.kind === "Name" ? facts.file.scopes.onlyValue(loop.iter) : loop.iter;
  return over?.kind === "List" || over?.kind === "Tuple";
}

/** Begun and ended in one step of the optimizer, whose micro-batches the loop goes through. */
function isOfMicroSteps(keep: Keep, facts: Facts): boolean {
  const { root, loop } = keep;
  if (root.kind !== "Name" || !loop) return false;
  const step = loopsAround(loop)[0] ?? functionOf(loop);
  const steps = optimizerSteps(facts.file);
  return (
    step !== null &&
    !steps.some((one) => turnsOf(keep).some((turn) => contains(turn, one))) &&
    steps.some(
      (one) =>
        one.start > loop.end && contains(step, one) && (loopsAround(one)[0] ?? functionOf(one)) === step,
    ) &&
    (facts.file.scopes.lookup(root)?.definitions ?? []).some(
      (one) => one.how !== "augment" && contains(step, one.node) && one.node.start < loop.start,
    )
  );
}

/** In the branch that also steps the optimizer. */
function isWithStep(node: Node, loop: Node, facts: Facts): boolean {
  for (let at = node.parent; at && at !== loop; at = at.parent)
    if (at.kind === "If") return optimizerSteps(facts.file).some((step) => contains(at!, step));
  return false;
}

/** `out["loss"]` of a network that has stepped by itself: what it reports by name may be a number as well. */
function isReport(arg: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const [one] = arg.kind === "Name" ? scopes.reaching(arg) : [];
  const from = one ? one.value : arg;
  const part = from?.kind === "Tuple" ? from.items[one?.index ?? 0] : from;
  if (part?.kind !== "Subscript" || part.index.kind !== "Str" || part.value.kind !== "Name") return false;
  const run = scopes.onlyValue(part.value);
  return run?.kind === "Call" && facts.callee(run)?.reachesBackward === true;
}

/** `self.losses["kept"] = torch.zeros(())` above `self.losses["kept"] += part`, in the same call: begun anew by each. */
function isBegunAbove({ at }: Keep, { file }: Facts): boolean {
  if (at.kind !== "AugAssign" || at.target.kind !== "Subscript" || at.target.index.kind !== "Str")
    return false;
  const text = file.textOf(at.target);
  const fn = functionOf(at);
  return (
    fn !== null &&
    file
      .all("Assign")
      .some(
        ({ targets: [target], start }) =>
          target?.kind === "Subscript" &&
          start < at.start &&
          functionOf(target) === fn &&
          file.textOf(target) === text &&
          loopsAround(target).every((loop) => contains(loop, at)),
      )
  );
}
