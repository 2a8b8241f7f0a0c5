import { isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { Assign, Call, Dict, Expr, Name, Stmt } from "../../python/tree.ts";
import { indentAt } from "../edits.ts";
import type { Edit, Finding, Rule } from "../rule.ts";
import type { Facts } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { likelyBeside } from "../facts/likely-beside.ts";
import { likelyHeld } from "../facts/likely-held.ts";
import { PICTURE, TEXT, isLanguageModel, isOfPixels, isOfSounds } from "../facts/large-outputs.ts";
import { isNetwork, networkCall } from "../facts/networks.ts";
import { returnsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { goesInParts, isForTokens, isGatheredFrom, logitsOf, stepsBelow } from "../facts/scored-tokens.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import {
  MAPS,
  isLaidOut,
  isLoss,
  isOfTokens,
  isOnlyForLoss,
  isAskedForSize,
  isPacked,
  isThrowaway,
  isWrittenTo,
} from "../facts/output-uses.ts";
import {
  isOfFeaturePairs,
  isOfMethod,
  isOwnPart,
  outputsOf,
  shapedFrom,
  isAskedForNone,
  isDroppedBelow,
  isLookedAt,
  isNowAndThen,
  isOfLogits,
  isOnlyLookedAt,
  isReadByLayer,
  isStepped,
  isTakenOver,
  stepIn,
} from "../facts/held-outputs.ts";

export const rule: Rule = {
  meta: {
    code: "PLM009",
    name: "outputs-kept-through-next-forward",
    summary: "A step's outputs, logits among them, stay alive while the next forward runs",
    severity: "note",
    fix: "safe",
    patterns: [9],
  },
  *check(facts) {
    const { file } = facts;
    const held: Finding[] = [];
    for (const statement of file.all("Assign")) {
      if (statement.targets[0]!.kind === "Subscript") yield* withLosses(statement, facts);
      if (loopsAround(statement).length === 0) continue;
      const evaluates = facts.gradMode(statement) === "off";
      // `with torch.no_grad(): probs = logits.softmax(1)` of a step is as much in the way of the next.
      const loop = (evaluates ? batchLoop(statement, facts) : null) ?? facts.stepLoop(statement);
      const own = loop ? stepIn(loop, statement, true) : -1;
      const told: Finding[] = [];
      if (loop && own >= 0)
        for (const target of outputsOf(statement, facts))
          told.push(...kept(target, statement, loop, own, evaluates, facts));
      if (loop && !evaluates && told.length === 0) told.push(...severalMaps(statement, loop, facts));
      yield* told;
      held.push(...told);
      if (told.length > 0) continue;
      if (evaluates) {
        yield* scored(statement, facts);
        yield* gatheredFrom(statement, facts);
      } else if (loop) {
        // What is handed out by a step under a test, `if step % 5 == 0:`, is there until that comes again.
        const idle = own < 0 ? [] : [...unread(statement, loop, own, facts)];
        if (idle.length === 0) idle.push(...besideLoss(statement, loop, facts));
        if (idle.length === 0) idle.push(...handedBack(statement, loop, facts));
        if (idle.length === 0 && own >= 0) idle.push(...handedToSteps(statement, loop, own, facts));
        yield* idle;
        yield* inRecord(statement, loop, facts);
      }
    }
    if (facts.guesses) yield* likelyOnce(held, facts);
  },
};

/** One for each loop that nothing is said of yet: what goes for one of its large outputs goes for the others. */
function* likelyOnce(told: readonly Finding[], facts: Facts): Generator<Finding> {
  const seen: Loop[] = [];
  for (const { name, loop } of [...likelyHeld(facts), ...likelyBeside(facts)]) {
    if (seen.includes(loop) || told.some(({ at }) => at.start >= loop.start && at.end <= loop.end)) continue;
    seen.push(loop);
    yield {
      at: name,
      message: `\`${name.id}\` holds what this turn made until the next forward has finished; delete it after its last use`,
    };
  }
}

/**
 * `scores = out.logits[:, start:-1]` where a batch is gone through in parts without recording, and all that is wanted is how
 * likely each token was: the row of the vocabulary for each is there while the next part is run, and whatever else this one runs.
 */
function* scored(statement: Assign, facts: Facts): Generator<Finding> {
  const { file } = facts;
  const [target, ...more] = statement.targets;
  const whole = logitsOf(statement.value);
  const [loop] = loopsAround(statement);
  if (target?.kind !== "Name" || more.length > 0 || !whole || !loop) return;
  const below = stepsBelow(loop, statement, facts);
  if (!below && !goesInParts(loop, file)) return;
  const own = stepIn(loop, statement);
  if (own < 0 || !TEXT.test(file.text)) return;
  // `logits /= temperature` is the same tensor still.
  const bound = (file.scopes.scopeOf(target).bindings.get(target.id) ?? []).filter(({ node }) =>
    contains(loop, node),
  );
  if (bound.some(({ how, node }) => node !== target && how !== "augment")) return;
  const uses = bound.flatMap((one) => file.scopes.uses(one)).filter((use) => !isAskedForSize(use));
  if (uses.length === 0 || !uses.every((use) => contains(loop, use) && isForTokens(use, facts))) return;
  if (below && uses.some((use) => facts.stepLoop(use) !== null)) return;
  // What they are a part of is bound for as long.
  const outputs = whole.kind === "Name" ? (file.scopes.lookup(whole)?.definitions ?? []) : [];
  const read = outputs.flatMap((one) => file.scopes.uses(one));
  const last = Math.max(own, ...uses.map((use) => loop.body.findIndex((one) => contains(one, use))));
  const after = loop.body[last];
  if (!after || outputs.some(({ how, node }) => how !== "assign" || !contains(loop, node))) return;
  if (read.some((use) => use !== whole && (!contains(loop, use) || use.start > after.end))) return;
  const edit = deletion([...(whole.kind === "Name" ? [whole.id] : []), target.id], after, file);
  if (edit)
    yield {
      at: target,
      message: `\`${target.id}\` holds this ${below ? "round" : "part"}'s logits until the forward of the next has finished, and through all else that is run in between`,
      fix: { grade: "safe", title: "Delete them after their last use", edits: [edit] },
    };
}

/**
 * `logs = log_softmax(logits, -1)` where a batch is gone through in parts without recording, and all that is read of it is
 * `logs.gather(-1, ids)`: a number for each token, of a row of the vocabulary that stays until the next part has its own.
 */
function* gatheredFrom(statement: Assign, facts: Facts): Generator<Finding> {
  const { file } = facts;
  const [target, ...more] = statement.targets;
  const [loop] = loopsAround(statement);
  if (target?.kind !== "Name" || more.length > 0 || !loop) return;
  const below = stepsBelow(loop, statement, facts);
  if (!below && !goesInParts(loop, file)) return;
  const { value } = statement;
  if (value.kind !== "Call" || lastWord(value.func) !== "log_softmax" || !TEXT.test(file.text)) return;
  const bound = (file.scopes.scopeOf(target).bindings.get(target.id) ?? []).filter(({ node }) =>
    contains(loop, node),
  );
  const uses = bound.flatMap((one) => file.scopes.uses(one));
  if (bound.length !== 1 || uses.length === 0 || stepIn(loop, statement) < 0) return;
  if (!uses.every((use) => contains(loop, use) && isGatheredFrom(use, file))) return;
  // Each step gathers anew what it wants.
  if (below && uses.some((use) => facts.stepLoop(use) !== null)) return;
  const last = Math.max(...uses.map((use) => loop.body.findIndex((one) => contains(one, use))));
  const edit = deletion([target.id], loop.body[last], file);
  yield {
    at: target,
    message: below
      ? `\`${target.id}\` holds a row of the vocabulary for each token through all the steps below, until the next round has its own; what is gathered of it is all that is wanted`
      : `\`${target.id}\` holds a row of the vocabulary for each token of this part until the next part has its own, and through all else that is run in between; what is gathered of it is all that is wanted`,
    ...(edit
      ? { fix: { grade: "safe" as const, title: "Delete it after its last use", edits: [edit] } }
      : {}),
  };
}

/** `maps, losses = detector(images, targets)`, `b1, b2, scores = net(x, True)`: bound beside what is wanted, and never read. */
function* unread(statement: Assign, loop: Loop, own: number, facts: Facts): Generator<Finding> {
  const [target] = statement.targets;
  const call = statement.value;
  if (target?.kind !== "Tuple" || call.kind !== "Call" || statement.targets.length !== 1) return;
  if (!isNetwork(call.func, facts) || !differentiates(call, loop, facts)) return;
  const names = target.items.map((item) => (item.kind === "Starred" ? item.value : item));
  const idle = names.filter((item): item is Name => item.kind === "Name" && isIdle(item, facts));
  const asked = call.args.some(({ value }) => isTrue(value));
  const pictures = names.some((item) => item.kind === "Name" && /loss/.test(item.id)) && isOfPixels(facts);
  const large = idle.filter(
    ({ id }, at) =>
      LARGE.test(id) ||
      (asked && ASKED.test(id)) ||
      (pictures && (PICTURE.test(id) || NOISY.test(id))) ||
      isOneOfStages(idle, at),
  );
  if (large.length === 0 || idle.length === names.length) return;
  const edit = deletion(
    large.map(({ id }) => id),
    loop.body[own],
    facts.file,
  );
  if (edit)
    yield {
      at: large[0]!,
      message: `${large.map(({ id }) => `\`${id}\``).join(", ")} ${large.length > 1 ? "hold" : "holds"} this step's maps until the next forward has finished, and nothing reads ${large.length > 1 ? "them" : "it"}`,
      fix: { grade: "safe", title: "Delete what nothing reads", edits: [edit] },
    };
}

/**
 * `loss, recon = model(clips)`, `loss, parts, pred = trainer.train(x)`, of which nothing but the loss goes on: the rest is read for
 * a number, a picture now and then, or not at all. Who computes the loss of what it is given, with no classes to speak of, hands
 * back something as large as that beside it.
 */
function* besideLoss(statement: Assign, loop: Loop, facts: Facts): Generator<Finding> {
  const [target] = statement.targets;
  const call = statement.value;
  if (target?.kind !== "Tuple" || call.kind !== "Call" || statement.targets.length !== 1) return;
  const names = target.items.filter((item): item is Name => item.kind === "Name");
  if (!names.some(({ id }) => /(?:^|_)loss$/.test(id))) return;
  if (CLASSES.test(facts.file.text) && !isOfPixels(facts)) return;
  if (!isNetwork(call.func, facts) && !RUNS.test(lastWord(call.func))) return;
  if (!differentiates(call, loop, facts) && isNetwork(call.func, facts)) return;
  const alone = call.args.filter((arg) => arg.name === null).length === 1;
  const held = names.find(
    (name) =>
      !/loss/.test(name.id) &&
      (GIVEN_BACK.test(name.id) || (alone && FORETOLD.test(name.id))) &&
      isOnlyLookedAt(name, loop, facts),
  );
  if (held)
    yield {
      at: held,
      message: `\`${held.id}\` holds what came with this step's loss until the next forward has finished; delete it after its last use`,
    };
}

/**
 * `figures, (scores, maps) = self.run(batch)`, of a function of this file that runs the network and hands its outputs back, which
 * are read for a number now and then or not at all: in that function they would have gone with its names.
 */
function* handedBack(statement: Assign, loop: Loop, facts: Facts): Generator<Finding> {
  const [target, ...more] = statement.targets;
  const call = statement.value;
  if (target?.kind !== "Tuple" || more.length > 0 || call.kind !== "Call") return;
  const returns = facts.file.once(returnsByName);
  const given =
    returns.get(callTarget(call, facts.file) ?? "") ??
    (isNetwork(call.func, facts) ? onlyForward(target.items.length, returns) : []);
  if (given.length === 0 || !differentiates(call, loop, facts)) return;
  const held = takenFrom(target, given).filter(
    ({ name, from }) =>
      from.every(
        (one) => isLargeOutput(one, facts) || (one.kind === "Name" && isOfFeaturePairs(one, facts)),
      ) && isOnlyLookedAt(name, loop, facts),
  );
  const names = held.map(({ name }) => `\`${name.id}\``).join(", ");
  if (held.length > 0)
    yield {
      at: held[0]!.name,
      message: `${names} ${held.length > 1 ? "hold" : "holds"} this step's outputs, handed back by \`${lastWord(call.func)}\`, until the next forward has finished; hand back the numbers that are wanted of them`,
    };
}

/** What the only forward of this file that hands back so many does: of `net.forward(x)`, where `net = DDP(Net())`. */
function onlyForward(items: number, returns: ReadonlyMap<string, readonly Expr[]>): readonly Expr[] {
  const found = [...returns].filter(
    ([name, given]) =>
      name.endsWith(".forward") && given.every((one) => one.kind === "Tuple" && one.items.length === items),
  );
  return found.length === 1 ? found[0]![1] : [];
}

/**
 * `fakes = self.gen(noise)`, which the functions that update one network and the other are handed, and nothing else reads: when both
 * have done so, what was generated is there until the next is.
 */
function* handedToSteps(statement: Assign, loop: Loop, own: number, facts: Facts): Generator<Finding> {
  const [target, ...more] = statement.targets;
  const call = statement.value;
  if (target?.kind !== "Name" || more.length > 0 || call.kind !== "Call") return;
  if (!MADE_UP.test(target.id) || !GENERATES.test(lastWord(call.func)) || !isNetwork(call.func, facts))
    return;
  const { scopes } = facts.file;
  const bound = scopes.scopeOf(target).bindings.get(target.id) ?? [];
  // Deleted, or made anew for another update.
  if (bound.some(({ node }) => node !== target && contains(loop, node))) return;
  const made = scopes.definitionAt(target);
  const uses = made ? scopes.uses(made).filter((use) => !isAskedForSize(use)) : [];
  if (uses.length === 0 || !uses.every((use) => contains(loop, use) && isStepped(use, facts))) return;
  const last = Math.max(own, ...uses.map((use) => loop.body.findIndex((one) => contains(one, use))));
  const edit = deletion([target.id], loop.body[last], facts.file);
  if (edit)
    yield {
      at: target,
      message: `\`${target.id}\` holds what was generated for this step until the next is, though the updates are done with it`,
      fix: { grade: "safe", title: "Delete it after its last use", edits: [edit] },
    };
}

/** Each name of `a, (b, c)`, with what is returned at its place, wherever it is. */
function takenFrom(
  target: Expr,
  given: readonly Expr[],
): readonly { readonly name: Name; readonly from: readonly Expr[] }[] {
  if (target.kind === "Name") return isThrowaway(target) ? [] : [{ name: target, from: given }];
  if (target.kind !== "Tuple") return [];
  return target.items.flatMap((item, at) => {
    const parts = given.map((one) => (one.kind === "Tuple" ? one.items[at] : undefined));
    return parts.every((one) => one !== undefined) ? takenFrom(item, parts) : [];
  });
}

/**
 * What a network gave with its graph, a row for each token or moment by the shape that it is brought to for its loss, or as much as
 * went in by what it is compared with.
 */
function isLargeOutput(value: Expr, facts: Facts): boolean {
  const run = value.kind === "Name" ? networkCall(value, facts) : null;
  if (value.kind !== "Name" || !run || facts.networks.isLoss(run.func) || facts.gradMode(run) === "off")
    return false;
  const { scopes } = facts.file;
  const uses = scopes.reaching(value).flatMap((one) => scopes.uses(one));
  return (
    MAPS.test(value.id) ||
    (/logits/.test(value.id) && isLanguageModel(facts)) ||
    (MADE_UP.test(value.id) && GENERATES.test(lastWord(run.func))) ||
    ((isOfPixels(facts) || isOfSounds(facts)) && PICTURE.test(value.id)) ||
    uses.some((use) => isOfTokens(use, facts) || isLikeInput(use, facts))
  );
}

/** What a generator makes up is as large as what it is to look or sound like. */
const MADE_UP =
  /(?:^|_)(?:fakes?|gen(?:erated)?|samples?|x_hat|y_hat)(?:_(?:imgs?|images?|batch|audio|[a-z]))?$/;
const GENERATES = /^(?:net_?)?[Gg](?:_?[A-Z\d]|en(?:erator)?\w*)?$|generator/;

/** `mse(frame, frames[i])`, of a function that gives the network the others of `frames`. */
function isLikeInput(use: Name, { file }: Facts): boolean {
  const call = use.parent?.kind === "Arg" ? use.parent.parent : null;
  const fn = functionOf(use);
  if (call?.kind !== "Call" || !fn || !/mse|l1|recon/i.test(lastWord(call.func))) return false;
  const roots = call.args.map(({ value }) => (value.kind === "Subscript" ? value.value : value));
  return roots.some(
    (root) =>
      root.kind === "Name" &&
      root.id !== use.id &&
      new RegExp(`(?:encode\\w*|net|model|\\w*_net|\\w*_model)\\(${root.id}\\b`).test(file.codeOf(fn)),
  );
}

/**
 * `result = {"loss": loss, "logits": logits}`, or a function of this file that returns that, of which the loop reads the loss and
 * perhaps a number of the rest: the record holds the logits through the next forward.
 */
function* inRecord(statement: Assign, loop: Loop, facts: Facts): Generator<Finding> {
  const [target, ...more] = statement.targets;
  if (!target || more.length > 0 || !(TEXT.test(facts.file.text) || isOfPixels(facts))) return;
  if (!facts.backwards.some((one) => contains(loop, one.call))) return;
  const names = target.kind === "Tuple" ? target.items : [target];
  for (const [at, name] of names.entries()) {
    const record =
      name.kind === "Name" ? recordOf(statement.value, target === name ? null : at, facts) : null;
    if (name.kind !== "Name" || !record || (target === name && !hasLoss(record))) continue;
    const held = record.keys.find((_, place) => isHeldOutput(record.values[place]!, facts));
    if (held?.kind === "Str" && isOnlyPickedFrom(name, loop, facts))
      yield {
        at: name,
        message: `\`${name.id}["${held.value}"]\` holds this step's outputs until the next forward has finished; delete \`${name.id}\` after its last use`,
      };
  }
}

/** The dictionary that is bound: written here, or returned at that place by the function that is called. */
function recordOf(value: Expr, at: number | null, { file }: Facts): Dict | null {
  if (value.kind === "Dict") return at === null ? value : null;
  if (value.kind !== "Call") return null;
  const target = callTarget(value, file);
  const [one, ...more] = target === null ? [] : (file.once(returnsByName).get(target) ?? []);
  const given = at === null ? one : one?.kind === "Tuple" ? one.items[at] : null;
  return given?.kind === "Dict" && more.length === 0 ? given : null;
}

function hasLoss({ keys }: Dict): boolean {
  return keys.some((key) => key?.kind === "Str" && /(?:^|_)loss$/.test(key.value ?? ""));
}

/** What a network gave, under its own name and with its graph. */
function isHeldOutput(value: Expr, facts: Facts): boolean {
  const run = value.kind === "Name" && PICTURE.test(value.id) ? networkCall(value, facts) : null;
  return run !== null && !facts.networks.isLoss(run.func) && facts.gradMode(run) !== "off";
}

/** Bound once in the loop, and read there alone, by an entry at a time. */
function isOnlyPickedFrom(name: Name, loop: Loop, { file: { scopes } }: Facts): boolean {
  const definition = scopes.definitionAt(name);
  const others = scopes.scopeOf(name).bindings.get(name.id) ?? [];
  const uses = definition ? scopes.uses(definition) : [];
  return (
    uses.length > 0 &&
    others.every((one) => one === definition || !contains(loop, one.node)) &&
    uses.every(
      (use) => contains(loop, use) && use.parent?.kind === "Subscript" && use.parent.index.kind === "Str",
    )
  );
}

/**
 * `terms["pred"] = out` in `def training_losses(model, x)`, which hands back `terms` with its losses: who binds those to have the
 * loss differentiated and the rest logged holds the output as well, until the next forward has given others.
 */
function* withLosses({ targets: [target], value }: Assign, facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (target?.kind !== "Subscript" || target.value.kind !== "Name" || target.index.kind !== "Str") return;
  const fn = functionOf(target);
  const key = target.index.value ?? "";
  if (fn?.kind !== "FunctionDef" || !/loss(?:es)?(?:_|$)/.test(fn.name) || /loss/.test(key)) return;
  const kept = target.value.id;
  const isReturned = file
    .all("Return")
    .some((one) => functionOf(one) === fn && one.value?.kind === "Name" && one.value.id === kept);
  const besideLosses = new RegExp(`\\b${kept}\\[["']\\w*loss\\w*["']\\] *=`).test(file.codeOf(fn));
  if (!isReturned || !besideLosses || value.kind !== "Name" || facts.gradMode(value) === "off") return;
  const run = networkCall(value, facts);
  if (run && contains(fn, run) && !facts.networks.isLoss(run.func))
    yield {
      at: value,
      message: `\`${kept}\` hands the outputs back with the losses: who binds it for the loss holds them until the next forward has finished`,
    };
}

/** A row of them for each example is small. */
const CLASSES = /classif|num_(?:labels|classes)|n_class|sentiment|num_actions|action_dim/i;

/** Methods of a trainer that run one step, and functions that do. */
const RUNS =
  /^_?(?:train|fit|forward|run|compute|get|calc(?:ulate)?)(?:_\w+)?$|(?:^|_)step$|(?:^|_)loss(?:es)?$/;

/** By its name what a network made to be like its input. */
const GIVEN_BACK =
  /^(?:\w+_)?(?:recons?|reconstructions?|reconstructed|x_?hat|y_?hat|x_?recon|pred_(?:x0|x_?start|noise|images?|masks?|mels?|frames)|denoised|generated|decoded|frames|images?|imgs?|mels?|wavs?|audio|hidden_states|feature_maps?)$/;

/** The same where the network is told nothing to compare it with, `loss, pred = model(images)`: it is to be like what went in. */
const FORETOLD = /^(?:\w+_)?(?:pred|preds|predictions?|outputs?|samples?|features?|latents?)$/;

/** By its name a map, or several of them. */
const LARGE =
  /(?:^|_)(?:feat(?:ure)?_?maps?|feature_pyramid|maps|masks|detections|proposals|activations|hiddens|hidden_states|all_hidden|intermediates?|recons?|reconstructions?|heat_?maps?|skips)$/;

/** The same where they were asked for: `features, scores = net(x, return_features=True)`. */
const ASKED = /^(?:\w+_)?(?:feat(?:ure)?s?|hidden|embeddings|inter|att(?:n|ention)s?|taps|acts)$/;

/** Pictures on their way from or to noise. */
const NOISY = /^(?:x_?t|z_?t|x_?hat|noisy\w*|denoised|generated|fakes?|samples?)$/;

/** `b1, b2, b3`: what the stages of a network gave, one after the other. */
function isOneOfStages(names: readonly Name[], at: number): boolean {
  const stem = /^(\D+?)_?\d$/.exec(names[at]!.id)?.[1];
  return (
    stem !== undefined &&
    !/loss|logit|score|pred|out|^[qvz]$/i.test(stem) &&
    names.filter(({ id }) => id.replace(/_?\d$/, "") === stem).length > 1
  );
}

/** Bound here alone, and read nowhere. */
function isIdle(name: Name, { file: { scopes } }: Facts): boolean {
  const all = scopes.lookup(name)?.definitions ?? [];
  return !isThrowaway(name) && all.length === 1 && all[0]!.node === name && scopes.uses(all[0]!).length === 0;
}

/** By a backward in the loop, or by the function that hands the outputs back. */
function differentiates(run: Expr, loop: Loop, facts: Facts): boolean {
  return (
    facts.backwards.some((one) => contains(loop, one.call)) ||
    (run.kind === "Call" && facts.callee(run)?.reachesBackward === true)
  );
}

/** `del` on a line of its own, after a statement that ends its line. None where one below would find the name unbound. */
function deletion(names: readonly string[], after: Stmt | undefined, file: PythonFile): Edit | null {
  const isDropped = file
    .all("Delete")
    .some(
      (one) =>
        functionOf(one) === functionOf(after ?? one) &&
        one.targets.flatMap(namesIn).some(({ id }) => names.includes(id)),
    );
  if (isDropped) return null;
  if (!after || !["ExprStmt", "Assign", "AugAssign", "If", "With"].includes(after.kind)) return null;
  const lineEnd = file.lines.start(file.lines.line(after.end) + 1);
  if (lineEnd <= after.end || !/^\s*(?:#.*)?\s*$/.test(file.text.slice(after.end, lineEnd))) return null;
  const ending = file.text.includes("\r\n") ? "\r\n" : "\n";
  return {
    start: lineEnd,
    end: lineEnd,
    text: `${indentAt(file, after.start)}del ${names.join(", ")}${ending}`,
  };
}

/** What is bound for longer than it is used. */
function* kept(
  target: Name,
  statement: Assign,
  loop: Loop,
  own: number,
  evaluates: boolean,
  facts: Facts,
): Generator<Finding> {
  const { file } = facts;
  const definition = file.scopes.definitionAt(target);
  const others = file.scopes.scopeOf(target).bindings.get(target.id) ?? [];
  // `if amp: out = net(x)`, `else: out = net(x)`: told once.
  const beside = others.filter((one) => contains(loop, one.node) && isOtherBranch(one.node, target));
  if (beside.some(({ node }) => node.start < target.start)) return;
  const again = others.filter(
    (one) =>
      one !== definition &&
      contains(loop, one.node) &&
      !isTakenOver(one, target, loop) &&
      !beside.includes(one) &&
      !isNowAndThen(one, target, loop),
  );
  if (!definition || !again.every((one) => isOwnPart(one, statement))) return;
  const every = [definition, ...again, ...beside].flatMap((one) => file.scopes.uses(one));
  const below = every.filter((use) => use.start >= loop.end);
  const all = every.filter((use) => !below.includes(use));
  if (all.some((use) => !contains(loop, use) || use.start < statement.end)) return;
  if (below.length > 0 && (evaluates || !below.every((use) => isLookedAt(use, facts)))) return;
  // What is drawn of the last batch is wanted; a row of the vocabulary for each token is too large for that.
  if (below.length > 0 && !isLanguageModel(facts) && !below.some(isOfLogits)) return;
  const asked = all.filter(isAskedForNone);
  const uses = (
    again.length === 0
      ? all
      : [...new Set(all)].filter((use) => !again.some(({ value }) => contains(value!, use)))
  ).filter((use) => !asked.includes(use));
  const shaped = shapedFrom(uses, loop, facts);
  if (!isOnlyForLoss(uses, target, shaped, facts)) return;
  const read = [...uses, ...shaped.flatMap((one) => file.scopes.uses(one))];
  // What a method of a network gives may be anything: scores of tokens by what is done with them.
  if (isOfMethod(statement, facts) && !read.some((use) => isOfTokens(use, facts))) return;
  // What a head on top of another network gives is mostly a row for each example.
  const onTop = others.some((one) => contains(loop, one.node) && isTakenOver(one, target, loop));
  if (
    onTop &&
    !isPacked(target, facts) &&
    !read.some((use) => isOfTokens(use, facts)) &&
    !isOfPixels(facts) &&
    !isOfSounds(facts)
  )
    return;
  const last = Math.max(
    own,
    ...[...read, ...asked].map((use) => loop.body.findIndex((one) => contains(one, use))),
  );
  if (!evaluates && !differentiates(statement.value, loop, facts)) return;
  // What only one branch binds cannot be deleted after both.
  const bound = shaped.filter(({ node }) => stepIn(loop, statementOf(node)!) >= 0).map(({ name }) => name);
  // Before the backward, where that is not the last use itself: the logits are then gone at its peak.
  const chosen = stepIn(loop, statement) < 0;
  const edit = chosen ? null : deletion([target.id, ...new Set(bound)], loop.body[last], file);
  const dropped = others.some((one) => isDroppedBelow(one, loop));
  if (below.length > 0)
    yield {
      at: target,
      message: `\`${target.id}\` holds each turn's ${TEXT.test(file.text) ? "logits" : "outputs"} until the next forward has finished, only for the last of them to be looked at below the loop`,
    };
  else if (edit || chosen || dropped)
    yield {
      at: target,
      // The old logits are gone before a loss that is computed outside: measured, the peak is the same (evidence/rules).
      message: `\`${target.id}\` holds this step's ${MAPS.test(target.id) ? "maps" : isOfLogitsHere(statement.value, target, facts) ? "logits" : "outputs"} until the next forward has finished${uses.some(isLoss) ? ", whose own loss then runs beside them" : ""}${dropped ? "; the `del` below the loop comes after its last turn only" : ""}`,
      ...(edit
        ? { fix: { grade: "safe" as const, title: "Delete them after their last use", edits: [edit] } }
        : {}),
    };
}

function isOfLogitsHere(value: Expr, target: Name, facts: Facts): boolean {
  return (
    !(value.kind === "Attribute" && value.attr !== "logits") &&
    !isLaidOut(target, facts) &&
    (TEXT.test(facts.file.text) || isWrittenTo(target, facts))
  );
}

/** By its name a network that is run for what its layers give. */
const GIVES_MAPS = /vgg|percept|lpips|feature|extract|backbone|resnet|inception|dino|hubert|wav2vec/i;

/**
 * `ours, theirs = self.vgg(fake), self.vgg(real)`, of which the loss is computed layer by layer, `ours["relu3_1"]` or
 * `zip(ours, theirs)`: the maps of all layers, most of them far larger than a picture, are there while the next forward runs.
 */
function* severalMaps(statement: Assign, loop: Loop, facts: Facts): Generator<Finding> {
  const [target, ...more] = statement.targets;
  if (!target || more.length > 0 || stepIn(loop, statement, true) < 0) return;
  const { value } = statement;
  const unpacked = target.kind === "Tuple" && value.kind === "Call";
  const pairs = unpacked
    ? target.items.map((item) => [item, value] as const)
    : target.kind === "Tuple" && value.kind === "Tuple" && target.items.length === value.items.length
      ? target.items.map((item, at) => [item, value.items[at]!] as const)
      : [[target, value] as const];
  const held = pairs.flatMap(([name, run]) =>
    name.kind === "Name" &&
    (run.kind === "Call"
      ? (unpacked ? isAskedForMaps(name, run) : GIVES_MAPS.test(lastWord(run.func))) &&
        isNetwork(run.func, facts)
      : isListOfMaps(name, run)) &&
    differentiates(run, loop, facts) &&
    isReadByLayer(name, loop, facts)
      ? [name]
      : [],
  );
  if (held.length > 0)
    yield {
      at: held[0]!,
      message: `${held.map(({ id }) => `\`${id}\``).join(", ")} ${held.length > 1 ? "hold" : "holds"} the maps of all layers until the next forward has finished; delete them after their last use`,
    };
}

/** `maps` of `maps, scores = net(x, return_features=True)` */
function isAskedForMaps({ id }: Name, { args }: Call): boolean {
  return (ASKED.test(id) || LARGE.test(id)) && args.some(({ name, value }) => name !== null && isTrue(value));
}

/** `fmaps = [maps for maps, _ in scored]`: picked out of what a discriminator gave beside its scores. */
function isListOfMaps({ id }: Name, made: Expr): boolean {
  return made.kind === "Comp" && made.flavour === "list" && made.element.kind === "Name" && MAPS.test(id);
}

/** The loop over a loader's batches that an evaluation is. */
function batchLoop(statement: Stmt, facts: Facts): Loop | null {
  const loop = loopsAround(statement)[0] ?? null;
  return loop?.kind === "For" && /load|batch|data|_dl\b|_iter\b/i.test(facts.file.textOf(loop.iter))
    ? loop
    : null;
}
