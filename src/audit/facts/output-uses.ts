import { contains, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, Name, Node, Sequence } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isCopiedToHost, isDrawn, isMeasured, isSummed, pickOf } from "./figures.ts";
import { PICTURE, TEXT, isLanguageModel, isOfPixels, isOfSounds, scoresEveryItem } from "./large-outputs.ts";
import { networkCall } from "./networks.ts";

/** A map for each head of each layer, or those that a discriminator's layers gave. */
export const MAPS =
  /^(?:\w+_)?(?:att(?:n|ention)s?(?:_(?:maps?|weights?|probs?|scores?))?|f(?:eat(?:ure)?_?)?maps?(?:_(?:\w_)?(?:r|g|f|d|real|fake|gen|hat|\d))?)$/;

/** `torch.log_softmax(outputs, -1)`, `outputs.sigmoid()`, also as `.float()`: as large as the outputs themselves. */
export function isNormalised(made: Call, facts: Facts): boolean {
  let call = made;
  while (isCast(call) && call.func.value.kind === "Call") call = call.func.value;
  const name = facts.file.dotted(call.func);
  const normalises =
    name === null
      ? call.func.kind === "Attribute" && /^(?:(?:log_)?softmax|sigmoid)$/.test(call.func.attr)
      : /^torch\.(?:nn\.functional\.)?(?:(?:log_)?softmax|sigmoid)$/.test(name);
  return normalises && networkCall(call, facts) !== null;
}

/** `outputs.logits.float()`: once more, in a wider type. */
export function isWidened(call: Call, facts: Facts): boolean {
  return isCast(call) && networkCall(call, facts) !== null;
}

function isCast(call: Call): call is Call & { readonly func: Attribute } {
  return (
    call.func.kind === "Attribute" && /^(?:float|double)$/.test(call.func.attr) && call.args.length === 0
  );
}

/** `probs` of `probs = torch.softmax(logits.detach(), 1)` */
function isOfNormalised({ parent }: Name, facts: Facts): boolean {
  return parent?.kind === "Assign" && parent.value.kind === "Call" && isNormalised(parent.value, facts);
}

/** `scores` of `scores = pack_padded_sequence(scores, lengths)[0]`, or their softmax: a row for each word that was said. */
export function isPacked({ id, parent }: Name, facts: Facts): boolean {
  // The words themselves are packed beside them, as a network may have put them in order.
  if (/targ|label|gold|words|caps|captions|truth|tgt/i.test(id)) return false;
  if (parent?.kind !== "Assign" || !facts.file.mentions("pack_padded_sequence")) return false;
  const part = parent.value;
  const call =
    part.kind === "Subscript" || (part.kind === "Attribute" && part.attr === "data") ? part.value : part;
  if (call.kind !== "Call") return false;
  if (facts.file.dotted(call.func)?.endsWith(".pack_padded_sequence") === true)
    return call !== part && networkCall(call, facts) !== null;
  const [of] = isNormalised(call, facts) ? call.args : [];
  const [made, ...more] = of?.value.kind === "Name" ? facts.file.scopes.reaching(of.value) : [];
  return made?.node.kind === "Name" && more.length === 0 && isPacked(made.node, facts);
}

export const isThrowaway = ({ id }: Name): boolean => id === "_";

/** The loss is all that was wanted: then the rest is what nobody needs any more. */
export function isOnlyForLoss(
  uses: readonly Name[],
  target: Name,
  shaped: readonly Definition[],
  facts: Facts,
): boolean {
  const attributes = uses.filter(
    (use) => use.parent?.kind === "Attribute" || use.parent?.kind === "Subscript",
  );
  if (attributes.length === uses.length && uses.some(isLoss)) return true;
  if (MAPS.test(target.id))
    return (
      uses.length > 0 &&
      uses.every(
        (use) =>
          isAskedForSize(use) ||
          feedsLoss(use, facts) ||
          isSummed(use, facts) ||
          isDrawn(use, facts) ||
          isCopiedToHost(use, facts),
      )
    );
  // A language model's logits, or scores of all items, from which the loss is computed here.
  const packed = isPacked(target, facts);
  const texts = packed || TEXT.test(facts.file.text) || isLanguageModel(facts) || isWrittenTo(target, facts);
  if (isOnlyForPictures(uses, target, shaped, facts)) return true;
  if (!texts && !facts.file.once(scoresEveryItem)) return false;
  // `out.logits`, and `out.aux_loss` beside them.
  const asked = uses.map(({ parent }) => (parent?.kind === "Attribute" ? parent.attr : ""));
  if (asked.includes("logits") && asked.every((one) => /^logits$|(?:^|_)loss$/.test(one))) return true;
  const ofTokens = packed || (isOfNormalised(target, facts) && isLanguageModel(facts));
  const named = /logit$|logits|scores?$|outputs?$|preds?$|predictions?|log_?probs?$/.test(target.id);
  if (!ofTokens && !named && !(target.id === "out" && uses.some((use) => isOfTokens(use, facts))))
    return isThrowaway(target) && uses.length === 0 && isLanguageModel(facts);
  if (uses.length > 0 && uses.every(isAskedForSize)) return false;
  const made = new Set(shaped.map(({ value }) => value));
  const all = [...uses, ...shaped.flatMap((one) => facts.file.scopes.uses(one))];
  const counted = all.filter(
    (use) =>
      !feedsLoss(use, facts) &&
      (pickOf(use, facts) !== null ||
        isGathered(use, facts) ||
        isCopiedToHost(use, facts) ||
        isMeasured(use) ||
        isReadOut(use) ||
        isSummed(use, facts)),
  );
  // One row of scores an example is small; a row for each token is not.
  if (
    counted.length > 0 &&
    !ofTokens &&
    !all.some((use) => isOfTokens(use, facts)) &&
    !(
      target.parent?.kind === "Tuple" &&
      (isLanguageModel(facts) || isWrittenTo(target, facts)) &&
      counted.every(
        (use) =>
          isAlongLast(use, facts) || isCopiedToHost(use, facts) || isMeasured(use) || isSummed(use, facts),
      )
    )
  )
    return false;
  return all.every(
    (use) =>
      isAskedForSize(use) || feedsLoss(use, facts) || made.has(valueAround(use)) || counted.includes(use),
  );
}

/** What was made for each pixel, or each moment of a sound, and read for the loss or for a measure. */
function isOnlyForPictures(
  uses: readonly Name[],
  target: Name,
  shaped: readonly Definition[],
  facts: Facts,
): boolean {
  return (
    (isOfPixels(facts) || isOfSounds(facts) || isLaidOut(target, facts)) &&
    (PICTURE.test(target.id) || isOfNormalised(target, facts) || isComparedDensely(target, facts)) &&
    (isForLossAlone(uses, facts) ||
      // `maps = out["out"]`, of which the loss is computed.
      (shaped.length > 0 && isForLossAlone(partsRead(uses, shaped, facts), facts)) ||
      // Beside the loss that the network computes itself, or as probabilities for a measure.
      ((target.parent?.kind === "Tuple" || isOfNormalised(target, facts)) &&
        uses.length > 0 &&
        uses.every(
          (use) =>
            isSummed(use, facts) ||
            isMeasured(use) ||
            (isOfNormalised(target, facts) && pickOf(use, facts) !== null),
        )) ||
      // Which class each pixel has, counted.
      (facts.gradMode(target) === "off" &&
        /segment|pixel/i.test(facts.file.text) &&
        uses.length > 0 &&
        uses.every((use) => pickOf(use, facts) !== null || feedsLoss(use, facts))))
  );
}

/** By its name a code, a score or a number for each example. */
const SMALL =
  /^(?:[zhq]\w?|mu|means?|std|sigma|log_?(?:var|sigma|std)|codes?|values?|v_\w+|rewards?|adv\w*|pi|kl\w*|t|idx|ind\w*|(?:\w+_)?(?:real|fake|scores?|prob|class|cls|labels?|loss(?:es)?|validity|embeddings?|latents?))$/i;

/** By its name what judges, or brings to a few numbers. */
const REDUCES = /disc|critic|classif|judge|encode|embed|value|reward|(?:^|_)d$|^net_?d$/i;

/** Compares two things entry by entry. */
const BY_ENTRY =
  /(?:^|[._])(?:mse|mae|l[12]|smooth_?l1|huber|charbonnier|dice|recon\w*|ssim|focal)(?:_?loss|_?criterion|_with_logits)?$/i;

/** The same where each pixel has a class. */
const BY_PIXEL =
  /(?:cross_?entropy|bce|nll|crit(?:erion)?|loss(?:es)?|loss_(?:fn|func(?:tion)?))(?:_with_logits)?$/i;

/**
 * `seg` of `seg = net(images)` where `dice(seg, masks)` or `(v - target).square()` compares it entry by entry, in a file that speaks
 * of pictures or sounds: whatever its name, it is as large as they are.
 */
export function isComparedDensely(target: Name, facts: Facts): boolean {
  if (SMALL.test(target.id)) return false;
  const { file } = facts;
  const laidOut = isLaidOut(target, facts);
  if (!laidOut && !isOfPixels(facts) && !isOfSounds(facts)) return false;
  const statement = statementOf(target);
  const run = statement?.kind === "Assign" ? networkCall(statement.value, facts) : null;
  if (!run || REDUCES.test(lastWord(run.func)) || facts.networks.isLoss(run.func)) return false;
  // `out = out["out"]` is the same by its name.
  const all = (file.scopes.lookup(target)?.definitions ?? []).flatMap((one) => file.scopes.uses(one));
  const byPixel = file.says(/segment|pixel|\bmasks?\b/i);
  return all.some((use) => {
    const whole = wholeOf(use);
    if (whole.parent?.kind === "Binary" && whole.parent.op === "-") return feedsLoss(use, facts);
    const call = whole.parent?.kind === "Arg" ? whole.parent.parent : null;
    if (call?.kind !== "Call" || call.args.length < 2) return false;
    if (laidOut && isLossCall(call, facts)) return true;
    const name = file.dotted(call.func) ?? lastWord(call.func);
    return BY_ENTRY.test(name) || (byPixel && BY_PIXEL.test(name));
  });
}

/** `_, _, x, y, z = flow.shape`, `flow.permute(0, 2, 3, 4, 1)`: what a network gave, or what it gave beside it, has a number for each pixel. */
export function isLaidOut(target: Name, { file: { scopes } }: Facts): boolean {
  const given = target.parent?.kind === "Tuple" ? target.parent.items : [target];
  return given.some((name) => {
    const made = name.kind === "Name" && !isThrowaway(name) ? scopes.definitionAt(name) : null;
    return made !== null && made !== undefined && scopes.uses(made).some(hasManyDimensions);
  });
}

function hasManyDimensions({ parent }: Name): boolean {
  if (parent?.kind !== "Attribute") return false;
  const call = parent.parent?.kind === "Call" && parent.parent.func === parent ? parent.parent : null;
  if (parent.attr === "permute") return call !== null && call.args.length > 3;
  const sizes = parent.attr === "shape" ? parent : parent.attr === "size" ? call : null;
  const [target] = sizes?.parent?.kind === "Assign" ? sizes.parent.targets : [];
  return target?.kind === "Tuple" && target.items.length > 3;
}

/** `out["out"].float()` of the `out` in it. */
function wholeOf(use: Name): Expr {
  let at: Expr = use;
  for (;;) {
    const up: Node | null = at.parent;
    if (up?.kind === "Subscript" && up.value === at) at = up;
    else if (up?.kind === "Attribute" && up.parent?.kind === "Call" && up.parent.func === up) at = up.parent;
    else return at;
  }
}

/** What is read of an output and of the parts of it that have names, but for where those get them. */
function partsRead(uses: readonly Name[], shaped: readonly Definition[], { file }: Facts): readonly Name[] {
  const made = new Set(shaped.map(({ value }) => value));
  return [...uses, ...shaped.flatMap((one) => file.scopes.uses(one))].filter(
    (use) => !made.has(valueAround(use)),
  );
}

/** What is told to a network in words, that it is to learn to say. */
const WORDS =
  /(?:^|_)(?:captions?|questions?|answers?|sentences?|prompts?|reports?|transcripts?|utterances?)$/;

/**
 * `loss, logits = model(image, caption)`: who is handed the words as they are, and hands back the loss of saying them, has scored
 * every word it knows at each place. Who compares them with pictures hands back a score for each pair.
 */
export function isWrittenTo(target: Name, { file }: Facts): boolean {
  const statement = target.parent?.kind === "Tuple" ? statementOf(target) : null;
  const call = statement?.kind === "Assign" ? statement.value : null;
  return (
    call?.kind === "Call" &&
    target.id.endsWith("logits") &&
    partsBeside(target).some(({ id }) => /(?:^|_)loss$/.test(id)) &&
    call.args.some(({ value }) => value.kind === "Name" && WORDS.test(value.id)) &&
    !/contrast|clip|similarity|retriev|logits_per|classif|num_(?:labels|classes)|n_class|sentiment/i.test(
      file.text.replaceAll(/clip_grad\w*|grad_clip\w*/g, ""),
    )
  );
}

function partsBeside({ parent }: Name): readonly Name[] {
  return parent?.kind === "Tuple" ? parent.items.filter((item): item is Name => item.kind === "Name") : [];
}

/** For the loss, and beside it for a picture, a measure or a number. */
function isForLossAlone(uses: readonly Name[], facts: Facts): boolean {
  const others = uses.filter((use) => !feedsLoss(use, facts));
  return (
    others.length < uses.length &&
    others.every(
      (use) =>
        isAskedForSize(use) ||
        isDrawn(use, facts) ||
        isCopiedToHost(use, facts) ||
        // Which class each pixel has, counted.
        pickOf(use, facts) !== null ||
        isMeasured(use),
    )
  );
}

/** In a shape that only scores of many tokens are brought to for their loss: `logits.view(-1, vocab)`, `logits.view(b * t, n)`, `logits[:, :-1]`, `logits.transpose(1, 2)`. */
export function isOfTokens(use: Name, facts: Facts): boolean {
  const statement = statementOf(use);
  // `logits[:, :-1].argmax(-1)`: the last token foretells none, whatever is made of the others.
  if (isWithoutLast(use) && pickOf(use, facts) !== null) return true;
  if (isGathered(use, facts) || isTimeFirst(use, facts) || isTurnedAround(use)) return true;
  return (
    statement !== null &&
    (feedsLoss(use, facts) || valueAround(use) !== null) &&
    pickOf(use, facts) === null &&
    new RegExp(
      `\\b${use.id}(?:\\.logits)?(?:\\.(?:float|contiguous)\\(\\))*(?:\\.(?:view|reshape)\\((?:-1,[^,)]*(?:vocab|tok|word|size\\((?:-1|2)|shape\\[(?:-1|2))|\\w+ ?\\* ?\\w+, ?\\w+\\))|\\.flatten\\(0|\\.transpose\\((?:1, ?2|2, ?1|-1, ?-2)|\\.permute\\(0, ?2, ?1\\)|\\[(?:\\.\\.\\.|:), ?:-1)`,
    ).test(facts.file.textOf(statement))
  );
}

/** `preds[valid].permute(2, 1, 0)`: more than a row for each example. */
function isTurnedAround(use: Name): boolean {
  let at: Node | null = use.parent;
  while (at?.kind === "Subscript") at = at.parent;
  return (
    at?.kind === "Attribute" &&
    at.attr === "permute" &&
    at.parent?.kind === "Call" &&
    at.parent.args.length > 2
  );
}

/** `criterion(outputs.log_softmax(2).transpose(0, 1), …)`, `ctc(F.log_softmax(outputs, -1).permute(1, 0, 2), …)`: moments, then examples, as CTC wants them. */
function isTimeFirst(use: Name, facts: Facts): boolean {
  if (!feedsLoss(use, facts)) return false;
  for (let at: Node | null = use.parent; at && at.kind !== "Assign"; at = at.parent)
    if (
      at.kind === "Call" &&
      at.func.kind === "Attribute" &&
      /^(?:transpose\((?:0, ?1|1, ?0)\)|permute\(1, ?0, ?2\))$/.test(
        facts.file.text.slice(at.func.end - at.func.attr.length, at.end),
      )
    )
      return true;
  return false;
}

/** `texts = decode(outputs.detach())`, `beam_search(outputs.data)`: words. */
function isReadOut({ parent }: Name): boolean {
  const cut = parent?.kind === "Attribute" && /^(?:detach|data)$/.test(parent.attr) ? parent : null;
  const whole = cut?.parent?.kind === "Call" ? cut.parent : cut;
  const call = whole?.parent?.kind === "Arg" ? whole.parent.parent : null;
  return call?.kind === "Call" && /decod|greedy|beam/i.test(lastWord(call.func));
}

/** `logits[:, :-1]`, `outputs.logits[..., :-1, :]` */
function isWithoutLast({ parent }: Name): boolean {
  const part = parent?.kind === "Attribute" && parent.attr === "logits" ? parent.parent : parent;
  if (part?.kind !== "Subscript" || part.index.kind !== "Tuple") return false;
  const [, second] = part.index.items;
  return (
    second?.kind === "Slice" &&
    second.lower === null &&
    second.upper?.kind === "Unary" &&
    second.upper.operand.kind === "Num" &&
    second.upper.operand.text === "1"
  );
}

/** `logs.gather(-1, ids[..., None])` of a language model: how likely each token was. */
function isGathered({ parent }: Name, facts: Facts): boolean {
  return parent?.kind === "Attribute" && parent.attr === "gather" && isLanguageModel(facts);
}

/** `logits.argmax(-1)`: the last dimension of scores that come with their loss, so that no shape of theirs is told beside it. */
function isAlongLast(use: Name, facts: Facts): boolean {
  const pick = pickOf(use, facts);
  return (
    pick !== null &&
    /[(,]\s*(?:(?:dim|axis)=)?(?:-1|2)(?:, ?keepdim=\w+)?\)$/.test(
      facts.file.text.slice(pick.func.end, pick.end),
    )
  );
}

export function isAskedForSize({ parent }: Name): boolean {
  return parent?.kind === "Attribute" && /^(?:shape|size|dim|ndim)$/.test(parent.attr);
}

/** The value of the assignment that a name is read in. */
function valueAround(use: Name): Expr | null {
  const statement = statementOf(use);
  return statement?.kind === "Assign" && contains(statement.value, use) ? statement.value : null;
}

export function isLoss(use: { parent: Node | null }): boolean {
  const { parent } = use;
  return (
    (parent?.kind === "Attribute" && parent.attr === "loss") ||
    (parent?.kind === "Subscript" &&
      ((parent.index.kind === "Str" && parent.index.value === "loss") ||
        // `loss = outputs[0]`, `loss = outputs[-1]`
        ((parent.index.kind === "Num" || parent.index.kind === "Unary") &&
          parent.parent?.kind === "Assign" &&
          parent.parent.targets.some((one) => one.kind === "Name" && /loss/.test(one.id)))))
  );
}

/** Inside the arguments of a loss function, or summed to what is differentiated: `loss = logits.sum()`. */
function feedsLoss(use: Node, facts: Facts, depth = 0): boolean {
  const statement = statementOf(use);
  const [target] = statement?.kind === "Assign" ? statement.targets : [];
  const made =
    target?.kind === "Name" && /loss|(?:^|_)(?:kl|nll|cost|objective)(?:_|$)/.test(target.id)
      ? facts.file.scopes.definitionAt(target)
      : null;
  if (made && facts.isDifferentiated(made)) return true;
  if (target?.kind === "Tuple" && isToldLoss(target, use, facts)) return true;
  for (let at = use.parent; at && at.kind !== "Assign" && at.kind !== "ExprStmt"; at = at.parent)
    if (at.kind === "Call" && isLossCall(at, facts)) return true;
  return depth < 2 && target?.kind === "Name" && isOnWay(target, use, facts, depth);
}

/** `loss, right = performance(pred, words)`, of a file that scores a vocabulary: the loss that is differentiated was computed of it. */
function isToldLoss({ items }: Sequence, { parent }: Node, facts: Facts): boolean {
  const { file } = facts;
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return (
    call?.parent?.kind === "Assign" &&
    file.says(/vocab|lm_head|CausalLM/) &&
    items.some((item) => {
      const made = item.kind === "Name" && item.id.endsWith("loss") ? file.scopes.definitionAt(item) : null;
      return made !== null && facts.isDifferentiated(made);
    })
  );
}

/** `error = pred - noise`, `spectrum = torch.stft(pred, 512).abs()`, of which the loss is computed and nothing else. */
function isOnWay(target: Name, use: Node, facts: Facts, depth: number): boolean {
  const { scopes } = facts.file;
  const made = scopes.definitionAt(target);
  const uses = made ? scopes.uses(made) : [];
  return (
    isComputedInto(use, facts) &&
    made?.how === "assign" &&
    uses.length > 0 &&
    uses.every((one) => feedsLoss(one, facts, depth + 1))
  );
}

/** What gives a few numbers of many. */
const FEWER = /^(?:mean|sum|prod|std|var|norm|max|min|amax|amin|median|logsumexp|argmax|topk|item)$/;

/** By arithmetic, by methods and by functions of torch, what is read there becomes the value of its assignment, as large as it was. */
function isComputedInto(use: Node, { file }: Facts): boolean {
  let at: Node = use;
  for (;;) {
    if (at.kind === "Call" && FEWER.test(lastWord(at.func))) return false;
    const up: Node | null = at.parent;
    if (up?.kind === "Assign") return at !== use && up.value === at;
    if (up?.kind === "Binary" || up?.kind === "Unary") at = up;
    else if (up?.kind === "Attribute" && up.parent?.kind === "Call" && up.parent.func === up) at = up.parent;
    else if (
      up?.kind === "Arg" &&
      up.parent?.kind === "Call" &&
      (file.dotted(up.parent.func) ?? "").startsWith("torch.")
    )
      at = up.parent;
    else return false;
  }
}

function isLossCall(call: Call, facts: Facts): boolean {
  return (
    /loss|entropy|(?:^|[._])kl_?div\w*$|(?:^|_)log_?p(?:s|robs?)$/.test(
      facts.file.dotted(call.func) ?? lastWord(call.func),
    ) || facts.networks.isLoss(call.func)
  );
}
