import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Arg, Call, Expr } from "../../python/tree.ts";
import { likelyKeeps } from "../facts/likely-keeps.ts";
import { keptArguments } from "../facts/keepers.ts";
import { isBackwarded } from "../facts/backwarded.ts";
import { lossesOfTrainer } from "../facts/callback-losses.ts";
import {
  isBounded,
  isItemOfLosses,
  isMaybeNumber,
  isQueue,
  isRing,
  keeps,
  keepsGraph,
  keepsOfCalls,
  keptForBackward,
} from "../facts/kept.ts";
import type { Keep } from "../facts/kept.ts";
import { callOf, innerRoot, turnOf } from "../facts/called-keeps.ts";
import type { Facts } from "../facts/facts.ts";
import { isKnownTensor } from "../facts/known-tensors.ts";
import { detach } from "../facts/on-tensor.ts";
import { grownElsewhere } from "../facts/grown-parameters.ts";
import { paramGiven } from "../facts/returns.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { recordedKeeps } from "../facts/recorded-keeps.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM002",
    name: "listed-loss-keeps-graph",
    summary: "A loss or output with its graph is kept in a list that is never differentiated",
    severity: "error",
    fix: "safe",
    patterns: [2, 3, 17],
    inTraining: true,
  },
  *check(facts) {
    for (const keep of [...keeps(facts), ...keepsOfCalls(facts)]) {
      const { added, at, root, loop } = keep;
      if (keep.how !== "list" || (root.kind !== "Name" && loop === null)) continue;
      if (isOfForward(keep, facts) || (facts.gradMode(at) === "off" && !isRecorded(added, facts))) continue;
      // Where nothing is differentiated, what may be later on needs no look at the value.
      if (facts.backwards.length === 0 && keptForBackward(keep, facts)) continue;
      const told = isItemOfLosses(added, facts) || isHandedToBackward(added, facts);
      if ((!told && !keepsGraph(added, facts)) || isMaybeNumber(added)) continue;
      const freed = told || isBackwarded(added, turnOf(keep), facts);
      if (!freed && keptForBackward(keep, facts)) {
        // Differentiated every turn, and never emptied, it would be gone through twice: nobody wants these graphs.
        if (isReplayed(keep, facts))
          yield {
            at,
            severity: "note",
            message: `\`${facts.file.textOf(root)}\` keeps every turn's graph, though it is drawn from again and again: only detached tensors can be`,
            fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(added, facts) },
          };
        continue;
      }
      // The micro-batches of one step: the list is that step's own.
      if (freed && root.kind === "Name" && loop && !takesStep(loop, facts) && !outlivesStep(keep, facts))
        continue;
      if (isOfOneStep(keep, facts) || isMadeAnArray(keep, facts)) continue;
      // A queue of a fixed length does not grow: what it holds is another rule's matter.
      if (isQueue(root, facts) && facts.stepLoop(callOf(keep) ?? at)) continue;
      // A term of what is differentiated after the loop: that backward frees the activations.
      if (!freed && isBackwarded(added, null, facts) && !outlivesStep(keep, facts)) continue;
      const name = facts.file.textOf(root);
      const scalar = facts.value(added).what === "tensor" && freed;
      const what = scalar && isLoss(added, facts) ? "loss" : "outputs";
      yield {
        at,
        // Whoever handed the object in may empty it; a ring, or what is cut to the last few, grows no further once it is full.
        severity:
          told || isHandedIn(root, facts) || isRing(at, facts.file) || isBounded(keep, facts)
            ? "note"
            : scalar
              ? "warning"
              : "error",
        message: freed
          ? `\`${name}\` keeps every step's ${what}${facts.onAccelerator(added) ? " on the device" : ""} with their graph nodes`
          : `\`${name}\` keeps every turn's whole graph, activations included, alive: memory grows until it runs out`,
        fix: {
          grade: scalar ? "safe" : "unsafe",
          title: "Detach what is kept",
          // What came of some function may be a list, or a dict.
          edits: scalar || isKnownTensor(added, facts) ? detach(added, facts) : [],
        },
      };
    }
    for (const { call, added, list } of lossesOfTrainer(facts))
      yield {
        at: call,
        severity: "note",
        message: `\`${facts.file.textOf(list)}\` keeps every step's loss with its graph nodes`,
        fix: { grade: "unsafe", title: "Detach what is kept", edits: detach(added, facts) },
      };
    for (const keep of grownElsewhere(facts, "list"))
      if (!isOfOneStep(keep, facts) && !isMadeAnArray(keep, facts) && !isQueue(keep.root, facts))
        yield {
          at: keep.added,
          severity: "note",
          message: `\`${keep.root.id}\` keeps every step's loss with its graph nodes: the function that it is handed to appends the loss as it is`,
        };
    for (const { arg, into, amongOthers, isDict } of keptArguments(facts, "list"))
      yield {
        at: arg,
        // Of a record of many things, some may be differentiated where they are drawn.
        ...(amongOthers || isDict ? { severity: "note" as const } : {}),
        message: `\`${into}\` puts this into a list it keeps, with the graph that comes with it`,
        fix: { grade: "unsafe", title: "Detach what is kept", edits: isDict ? [] : detach(arg, facts) },
      };
    for (const { at, how, root } of recordedKeeps(facts))
      if (how === "list")
        yield {
          at,
          message: `\`${facts.file.textOf(root)}\` keeps every batch's whole graph, activations included, alive: nothing frees what this evaluation records`,
        };
    for (const keep of likelyKeeps(facts))
      if (keep.how === "list" && !isOfOneStep(keep, facts) && !isMadeAnArray(keep, facts))
        yield {
          at: keep.at,
          message: `\`${facts.file.textOf(keep.root)}\` keeps what it is given in every step, with its graph`,
        };
  },
};

/** `run_backward(loss)`, of a function of this file that differentiates what it is handed, whatever the loss was made by. */
function isHandedToBackward(added: Expr, facts: Facts): boolean {
  const { backwards, file } = facts;
  const made = added.kind === "Name" ? file.scopes.reaching(added) : [];
  const differentiated = backwards.flatMap(({ loss }) =>
    loss?.kind === "Name"
      ? file.scopes
          .reaching(loss)
          .filter(({ how }) => how === "param")
          .map(({ node }) => node)
      : [],
  );
  return (
    differentiated.length > 0 &&
    made.some((one) =>
      file.scopes.uses(one).some(({ parent }) => {
        const site = parent?.kind === "Arg" ? parent.parent : null;
        if (site?.kind !== "Call" || facts.gradMode(site) === "off") return false;
        const param = paramGiven(site, parent as Arg, file);
        return param !== null && differentiated.includes(param);
      }),
    )
  );
}

/** `with torch.no_grad(): losses.append(loss)`: what was computed above that has its graph all the same. */
function isRecorded(added: Expr, facts: Facts): boolean {
  const definitions = added.kind === "Name" ? facts.file.scopes.reaching(added) : [];
  return (
    definitions.length > 0 &&
    definitions.every(({ how, node }) => how === "assign" && facts.gradMode(node) === "on")
  );
}

/** `np.array(values)` in the same turn: NumPy takes numbers, and would refuse the first that has a graph. */
function isMadeAnArray(keep: Keep, { file }: Facts): boolean {
  const root = innerRoot(keep);
  const turn = turnOf(keep);
  if (root.kind !== "Name" || !turn) return false;
  return (file.scopes.lookup(root)?.definitions ?? []).some((one) =>
    file.scopes.uses(one).some(({ parent }) => {
      const call = parent?.kind === "Arg" ? parent.parent : null;
      return (
        call?.kind === "Call" && contains(turn, call) && (file.dotted(call.func) ?? "").startsWith("numpy.")
      );
    }),
  );
}

/** A list of a module's forward: it holds what the layers gave, and goes when that returns. */
function isOfForward({ at, root, loop }: Keep, facts: Facts): boolean {
  const fn = functionOf(at);
  const cls = fn?.parent?.kind === "ClassDef" ? fn.parent : null;
  return (
    loop !== null &&
    cls !== null &&
    fn?.kind === "FunctionDef" &&
    fn.name === "forward" &&
    facts.role(cls) === "module" &&
    root.kind === "Name" &&
    facts.file.scopes.reaching(root).every(({ node }) => contains(fn, node))
  );
}

function isHandedIn(root: Expr, { file }: Facts): boolean {
  return root.kind === "Name" && file.scopes.reaching(root).some(({ how }) => how === "param");
}

/** `random.sample(memory, n)` in a loop that differentiates each turn. */
function isReplayed(keep: Keep, facts: Facts): boolean {
  const { file } = facts;
  const turn = turnOf(keep);
  if (!keep.loop || !turn || !facts.backwards.some(({ call }) => contains(turn, call))) return false;
  const name = file.textOf(innerRoot(keep));
  return file
    .callsNamed("sample", "choice", "choices")
    .some(
      (call) =>
        contains(turn, call) &&
        (call.args.some(({ value }) => file.textOf(value) === name) ||
          (call.func.kind === "Attribute" && file.textOf(call.func.value) === name)),
    );
}

function isLoss(added: Expr, facts: Facts): boolean {
  if (/loss|cost|objective/i.test(facts.file.textOf(added))) return true;
  return (
    added.kind === "Name" && facts.file.scopes.reaching(added).some((one) => facts.isDifferentiated(one))
  );
}

/** Begun anew in a loop further out, which takes the step after this one: gone with it. */
function isOfOneStep({ root, loop }: Keep, { file }: Facts): boolean {
  const isStep = ({ func }: Call): boolean =>
    func.kind === "Attribute" &&
    !/sched|stop|warm_?up|decay|anneal|(?:^|_)lr(?:_|$)/i.test(lastWord(func.value));
  const around = loop && loopsAround(loop)[0];
  if (!around) return false;
  const steps = file.callsNamed("step").filter((call) => isStep(call) && contains(around, call));
  // Its optimizer steps in the turns as well, and after them for what is left: `if step % 4 == 0: optimizer.step()`.
  const isOfTurnsToo = ({ func }: Call): boolean =>
    steps.some(
      (other) =>
        contains(loop, other) &&
        !isOfTurn(other, loop, file) &&
        file.textOf(other.func) === file.textOf(func),
    );
  return (
    root.kind === "Name" &&
    steps.some((call) => (!contains(loop, call) && !isOfTurnsToo(call)) || isOfTurn(call, loop, file)) &&
    (file.scopes.lookup(root)?.definitions ?? []).some(
      ({ how, node }) => how === "assign" && contains(around, node) && !contains(loop, node),
    )
  );
}

/** `for net, optimizer in zip(nets, optimizers):` goes through networks, which each take the same step. */
function isOfTurn({ func }: Call, loop: Loop, file: PythonFile): boolean {
  const [optimizer] =
    func.kind === "Attribute" && func.value.kind === "Name" ? file.scopes.reaching(func.value) : [];
  return optimizer?.how === "iterate" && loop.kind === "For" && contains(loop.target, optimizer.node);
}

/** Begun before a loop further out, each turn of which takes a step. */
function outlivesStep({ root, loop }: Keep, facts: Facts): boolean {
  const around = loop && loopsAround(loop)[0];
  const found = root.kind === "Name" ? (facts.file.scopes.lookup(root)?.definitions ?? []) : [];
  const begun = found.filter(({ how }) => how !== "augment");
  return (
    around !== null &&
    around !== undefined &&
    facts.backwards.some(({ call }) => {
      const [inner] = loopsAround(call);
      return inner === around || inner === loop;
    }) &&
    takesStep(around, facts) &&
    begun.length > 0 &&
    begun.every(({ node }) => !contains(around, node))
  );
}

/** Whether a step is taken in the loop, or in a function it calls: then each turn is one. */
function takesStep(loop: Loop, facts: Facts): boolean {
  return (
    facts.file
      .callsNamed("step", "optimizer_step", "step_and_update_lr")
      .some((call) => contains(loop, call)) ||
    // `loss_scaler(loss, optimizer)` takes it too.
    facts.backwards.some(
      ({ call, loss }) => contains(loop, call) && call.args[0]?.value === loss && call.args.length > 1,
    ) ||
    facts.callsTo("loose").some((call) => contains(loop, call) && facts.callee(call)?.loose === true) ||
    functionOf(loop) === null
  );
}
