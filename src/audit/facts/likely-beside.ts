import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Assign, Call, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isDrawn } from "./figures.ts";
import { isOtherBranch } from "./guards.ts";
import { isLookedAt } from "./held-outputs.ts";
import { isLanguageModel, isOfPixels, isOfSounds } from "./large-outputs.ts";
import { isRowEach } from "./likely-held.ts";
import { isNetwork } from "./networks.ts";
import { isAskedForSize, isThrowaway } from "./output-uses.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/**
 * `loss_mlm, loss_itm, logits_mlm = model(image, text)`, `loss, loss_map = train_step_fn(state, batch)`: what a network or a step
 * of another file hands back beside its losses, of which the loop reads a number now and then, or nothing.
 */
export function* likelyBeside(facts: Facts): Generator<{ readonly name: Name; readonly loop: Loop }> {
  for (const statement of facts.file.all("Assign")) {
    const [loop] = loopsAround(statement);
    const [target, ...more] = statement.targets;
    const call = statement.value;
    if (!loop || target?.kind !== "Tuple" || more.length > 0 || call.kind !== "Call") continue;
    if (!isRun(call, loop, facts) || !isOfEveryTurn(statement, loop)) continue;
    const names = target.items.filter((item): item is Name => item.kind === "Name" && !isThrowaway(item));
    const losses = names.filter(({ id }) => LOSS.test(id));
    const held = names.find(
      (name) =>
        !losses.includes(name) && isLarge(name, losses, facts) && isOnlyReadForNumbers(name, loop, facts),
    );
    if (losses.length > 0 && held) yield { name: held, loop };
  }
}

const LOSS = /(?:^|_)loss(?:es)?(?:_(?!maps?$|mask$)[a-z\d]+)?$/i;

/** A network that learns from each turn, or a step by its name, whoever made that. */
function isRun(call: Call, loop: Loop, facts: Facts): boolean {
  if (STEP.test(lastWord(call.func))) return facts.gradMode(call) !== "off";
  return (
    facts.stepLoops.has(loop) &&
    facts.gradMode(call) !== "off" &&
    isNetwork(call.func, facts) &&
    !facts.networks.isLoss(call.func)
  );
}

const STEP =
  /^_?(?:p_|pmap_)?(?:train(?:ing)?|update|optimi[sz]e)_?(?:step|batch|on_batch|iter(?:ation)?|one_(?:step|batch)|model|fn)(?:_fn|_func)?$/;

/** Right in the loop, also in what is tried there, `with` something, or by one branch or the other. */
function isOfEveryTurn(statement: Assign, loop: Loop): boolean {
  for (let child: Node = statement, at = statement.parent; at && at !== loop; child = at, at = at.parent) {
    const goesOn =
      at.kind === "With" ||
      (at.kind === "Try" && at.body.includes(child as never)) ||
      (at.kind === "If" && at.orelse.length > 0 && child !== at.test);
    if (!goesOn) return false;
  }
  return true;
}

const SCORES = /^(?:\w+_)?(?:logits|log_?probs|probs)$|^logits_\w+$/;

const OUTPUTS =
  /^(?:\w+_)?(?:scores|preds?|predictions?|outputs?|masks|heat_?maps|residuals|recons?|reconstructions?|x_?hat|denoised)$|^(?:scores|pred|recon|masks)_\w+$/;

/** A value for each pixel or token by its own name, or by what the losses beside it and the file speak of. */
function isLarge(name: Name, losses: readonly Name[], facts: Facts): boolean {
  const { id } = name;
  if (/(?:^|_)maps?$/.test(id)) return true;
  if (isRowEach(name, facts) || /(?:^|_)(?:cls|class\w*|label|value|policy|action)(?:_|$)/.test(id))
    return false;
  const isOfWords =
    isLanguageModel(facts) || [id, ...losses.map((loss) => loss.id)].some((one) => WORDS.test(one));
  if (SCORES.test(id) && isOfWords) return true;
  return (
    (SCORES.test(id) || OUTPUTS.test(id)) && (isOfPixels(facts) || isOfSounds(facts) || isOfBoxes(losses))
  );
}

/** Words that are masked or foretold, each scored by a row of the vocabulary. */
const WORDS = /(?:^|_)(?:m?lm|vocab|tokens?|captions?)(?:_|$)/;

/** `class_loss, box_loss`: a score for each of the many boxes that a detector may find. */
const isOfBoxes = (losses: readonly Name[]): boolean =>
  losses.some(({ id }) => /box|reg|loc|rpn/i.test(id)) &&
  losses.some(({ id }) => /cls|class|conf|obj/i.test(id));

/** Bound here alone, or by the other branch too, and looked at in the loop for a number, a size or a picture. */
function isOnlyReadForNumbers(name: Name, loop: Loop, facts: Facts): boolean {
  const { scopes } = facts.file;
  const own = scopes.definitionAt(name);
  const fn = functionOf(name);
  const others = (scopes.scopeOf(name).bindings.get(name.id) ?? []).filter((one) => one !== own);
  return (
    own !== null &&
    others.every(
      ({ how, node }) =>
        how !== "delete" && (!contains(loop, node) || functionOf(node) !== fn || isOtherBranch(node, name)),
    ) &&
    scopes
      .uses(own)
      .every(
        (use) =>
          contains(loop, use) && (isAskedForSize(use) || isLookedAt(use, facts) || isDrawn(use, facts)),
      )
  );
}
