import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Assign, Call, Expr, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { stepIn } from "./held-outputs.ts";
import { isLanguageModel, isOfPixels, isOfSounds } from "./large-outputs.ts";
import { isEvaluating } from "./likely-puts.ts";
import { isLossName } from "./naming.ts";
import { helperRun, isNetwork, networkCall } from "./networks.ts";
import { isAskedForSize, isThrowaway } from "./output-uses.ts";
import type { ProjectFacts } from "./project.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** A name that a turn of a loop of forwards binds to something large, and that has it until the next forward has finished. */
export function* likelyHeld(facts: Facts): Generator<{ readonly name: Name; readonly loop: Loop }> {
  for (const statement of facts.file.all("Assign")) {
    const [loop] = loopsAround(statement);
    const [target, ...more] = statement.targets;
    if (!loop || !target || more.length > 0 || statement.value.kind === "Name") continue;
    const names = (target.kind === "Tuple" ? target.items : [target]).filter(
      (item): item is Name => item.kind === "Name" && !isThrowaway(item),
    );
    const found = names.length === 0 ? null : largeOne(names, statement, facts);
    if (!found || stepIn(loop, statement, true) < 0) continue;
    if (
      !STEP.test(lastWord((outermost(statement.value) as Call).func)) &&
      !isOfForwards(loop, statement, facts)
    )
      continue;
    if (!facts.stepLoops.has(loop) && !isOfVocabulary(found, facts)) continue;
    if (isBoundOnce(found, loop, facts)) yield { name: found, loop };
  }
}

/** What is judged keeps no activations: of what comes out only a row of the vocabulary for each token is large beside its forward. */
const isOfVocabulary = (name: Name, facts: Facts): boolean =>
  isLanguageModel(facts) &&
  (/logits|log_?probs/.test(name.id) ||
    new RegExp(`\\b${name.id}\\.logits\\b`).test(
      facts.file.codeOf(functionOf(name) ?? facts.file.tree.module),
    ));

/** Of what is bound together, what is large by its name and by what makes it. */
function largeOne(names: readonly Name[], { value }: Assign, facts: Facts): Name | null {
  const call = outermost(value);
  if (!call) return null;
  const last = lastWord(call.func);
  if (NORMALISES.test(last)) {
    const [name] = names;
    // Of one token the row is small beside the logits of all.
    if (isOfOneToken(call)) return null;
    return names.length === 1 && !/loss/.test(name!.id) && isWide(name!, facts) && isOfRun(call, facts)
      ? name!
      : null;
  }
  const several = names.length > 1;
  if (STEP.test(last) || facts.callee(call)?.reachesBackward === true)
    return (
      (isHandedDetached(call, facts)
        ? undefined
        : names.find(({ id }) => HANDED_OUT.test(id) || (!several && id === "context"))) ??
      names.find((name) => isHandedOut(name, call, facts)) ??
      null
    );
  if (!isNetwork(call.func, facts) && !networkCall(call, facts)) return null;
  if (several && facts.networks.isLoss(call.func)) return null;
  return (
    names.find(({ id }) => several && MAPS.test(id)) ??
    names.find(
      (name) => (OUTPUTS.test(name.id) || (several && ASKED.test(name.id))) && isWide(name, facts),
    ) ??
    null
  );
}

/** `loss, shown, maps = train(batch)` of this file, which hands back in that place what the network gave, whatever it is called. */
function isHandedOut(name: Name, call: Call, facts: Facts): boolean {
  const at = name.parent?.kind === "Tuple" ? name.parent.items.indexOf(name) : null;
  const own = facts.file.scopes.definitionAt(name);
  // What the next turn compares with is wanted until then.
  const isCarried = own === null || facts.file.scopes.uses(own).some(({ start }) => start < name.start);
  return !isCarried && !isLossName(name.id) && isWide(name, facts) && helperRun(call, at, facts) !== null;
}

/** `log_softmax(logits[:, at, :].float(), -1)` */
function isOfOneToken({ args }: Call): boolean {
  let from: Expr | undefined = args[0]?.value;
  while (from?.kind === "Call" && from.func.kind === "Attribute") from = from.func.value;
  const items = from?.kind === "Subscript" && from.index.kind === "Tuple" ? from.index.items : [];
  return items.length > 1 && items.slice(1).some((item) => item.kind !== "Slice" && item.kind !== "Const");
}

/** `return losses, fake.detach()` of a step in this file: a picture or two, of which no activations are left. */
function isHandedDetached(call: Call, { file }: Facts): boolean {
  const returned = file.once(returnsByName).get(callTarget(call, file) ?? "") ?? [];
  return (
    returned.length > 0 &&
    returned.every(
      (one) => one.kind === "Tuple" && one.items.some((item) => file.textOf(item).endsWith(".detach()")),
    )
  );
}

/** `net(x)` of `net(x)`, `net(x)["out"]`, `net(x).logits` and `net(x)[0].float()`. */
function outermost(value: Expr): Call | null {
  let from = value;
  for (;;) {
    if (from.kind === "Subscript" || from.kind === "Attribute") from = from.value;
    else if (
      from.kind === "Call" &&
      from.func.kind === "Attribute" &&
      /^(?:float|detach|contiguous)$/.test(from.func.attr)
    )
      from = from.func.value;
    else return from.kind === "Call" ? from : null;
  }
}

const NORMALISES = /^(?:(?:log_)?softmax|sigmoid|interpolate|upsample)$/;

/** What runs a step and hands something out of it. */
const STEP =
  /^_?(?:train(?:ing)?_?(?:step|batch|on_batch|iter(?:ation)?|one_(?:step|batch))|_train|run_(?:step|batch))$/;

/** By its name what comes out of a step beside its loss. */
const HANDED_OUT =
  /^(?:\w+_)?(?:outputs?|preds?|predictions?|logits|feats|features|hidden|hiddens|recons?|reconstructions?|fakes?|images|imgs|samples|masks|embeddings|activations)$/;

/** By its name several maps, of the layers of a network. */
const MAPS =
  /^(?:\w+_)?(?:feature_?maps?|fmaps?|hidden_states|activations|attn_(?:weights|maps)|intermediates?|skips|maps)$/;

/** What may be maps where there is something for each pixel or token. */
const ASKED = /^(?:\w+_)?(?:feats?|features|hiddens?|attns?|attentions?|acts|taps)$/;

const OUTPUTS =
  /^(?:\w+_)?(?:logits|outputs?|out|preds?|predictions?|pred_\w+|\w+_pred|masks?|recons?\w*|x_hat|y_hat|log_?probs|fakes?|generated|denoised|mel\w*)$/;

/** A row for each pixel, moment or token, by what the file or the program speaks of. */
function isWide(name: Name, facts: Facts): boolean {
  if (
    /class_|cls|label|loss|(?:^|_)(?:value|score|reward|policy_out|action)/.test(name.id) ||
    isRowEach(name, facts)
  )
    return false;
  return isLanguageModel(facts) || isOfPixels(facts) || isOfSounds(facts) || isForPixels(facts.project);
}

/** `logits.argmax(1)`, `torch.max(out, 1)`: the second dimension is that of the scores, a row for each example. */
export function isRowEach(name: Name, facts: Facts): boolean {
  const { file } = facts;
  const own = file.scopes.definitionAt(name);
  const fn = functionOf(name);
  return (
    own !== null &&
    isLanguageModel(facts) &&
    new RegExp(`\\b${name.id}\\.(?:arg)?max\\((?:dim=)?1\\b|max\\(${name.id}, (?:dim=)?1\\b`).test(
      fn ? file.codeOf(fn) : file.text,
    )
  );
}

const programs = new WeakMap<ProjectFacts, boolean>();

/** A small program that measures, for each pixel, how well its classes meet: by the names of its functions and methods. */
function isForPixels(project: ProjectFacts): boolean {
  let found = programs.get(project);
  if (found === undefined) {
    found =
      project.files < 60 &&
      [...project.functions.keys()].some((name) =>
        /segment|(?:^|\.|_)m?iou(?:\.|_|$)|u_?net\.|deeplab/i.test(name),
      );
    programs.set(project, found);
  }
  return found;
}

/** `softmax(net(x), 1)`, `out.sigmoid()`: of what a network gave. */
function isOfRun(call: Call, facts: Facts): boolean {
  const of =
    call.func.kind === "Attribute" && facts.file.dotted(call.func) === null
      ? call.func.value
      : call.args[0]?.value;
  return (
    of !== undefined && (networkCall(of, facts) !== null || /^(?:output|tensor)$/.test(facts.value(of).what))
  );
}

/** A loop that differentiates each turn, or that judges batch after batch. */
function isOfForwards(loop: Loop, at: Node, facts: Facts): boolean {
  const fn = functionOf(loop);
  const cls = fn && classOf(fn);
  if (cls && facts.role(cls) === "module") return false;
  if (facts.stepLoops.has(loop)) return true;
  if (loop.kind !== "For") return false;
  const over = facts.file.textOf(loop.iter);
  // `for first in range(0, len(ids), size)`: a batch in parts.
  if (facts.gradMode(at) !== "on" && /\bceil\(|\brange\([^,]*,[^,]*,|num_(?:mini_?)?batches/.test(over))
    return true;
  return /load|batch|data|dl\b|valid|test|eval|generator|bar\b/i.test(over) && isEvaluating(at, facts);
}

/** Bound once in the loop, read in it alone, put nowhere, and deleted by nobody. */
function isBoundOnce(name: Name, loop: Loop, facts: Facts): boolean {
  const { scopes } = facts.file;
  const all = scopes.scopeOf(name).bindings.get(name.id) ?? [];
  const own = scopes.definitionAt(name);
  if (!own || all.some((one) => one.how === "delete" || (one !== own && contains(loop, one.node))))
    return false;
  const uses = scopes.uses(own);
  return uses.every((use) => contains(loop, use) && (isAskedForSize(use) || !isPut(use, loop, facts)));
}

/** `kept.append(out)`, `return out`, `self.out = out`, `keep(out)`: there for longer all the same, unless that is now and then. */
function isPut(use: Name, loop: Loop, { file }: Facts): boolean {
  const { parent } = use;
  if (parent?.kind === "Return" || parent?.kind === "Yield") return true;
  if (parent?.kind === "Assign") return parent.targets.some((one) => one.kind !== "Name");
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call" || call.parent?.kind !== "ExprStmt") return false;
  if (ancestors(call).some((at) => at.kind === "If" && contains(loop, at))) return false;
  const { func } = call;
  if (func.kind === "Name")
    return file.scopes.lookup(func)?.definitions.every(({ how }) => how === "param") ?? false;
  return KEEPS.test(lastWord(func)) && !/metric|meter|eval|log|score/i.test(file.textOf(func));
}

const KEEPS = /^(?:append|extend|add|put|push|save|store|keep)(?:_\w+)?$/;
