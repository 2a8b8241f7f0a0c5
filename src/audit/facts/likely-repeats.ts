import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Call, Clause, Expr, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isChanged, repeated } from "./invariants.ts";
import { leftOutOfClass } from "./left-out.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";
import { CHANGES, DRAWS } from "./untrained.ts";

/** Networks that give the same again, as far as names and the loop around them say. */

/** What others trained, and a project only asks, by its name. */
const FROZEN =
  /(?:^|_)(?:teacher\w*|frozen\w*|ref|reference|vgg\w*|lpips\w*|perceptual\w*|clip|clip_model|vae|text_(?:encoder|model|tower)\w*|pretrained\w*|first_stage_model|feature_extractor|inception\w*|old)$|^(?:(?:model|net|encoder|m)_t|(?:ref|reference|old|frozen|pretrained|clip|teacher)_\w+)$/i;

/** Methods of a network that run it. */
const RUNS =
  /^(?:forward\w*|encode\w*|extract\w*|embed\w*|evaluate|predict|get_\w*(?:features?|embeds?|embeddings?|logits))$/;

/** An input that is made once, by its name. */
const SAME =
  /^(?:\w+_)?(?:fixed|anchors?|probes?|templates?|class_(?:tokens|texts?|prompts?)|text_tokens|null|uncond\w*|neg(?:ative)?_prompts?|empty|blank|style_(?:im(?:g|age)s?)|reference_(?:images?|batch|ids|inputs?))(?:_\w+)?$/;

const RESHAPES = /^(?:to|cuda|float|half|unsqueeze|expand|repeat|detach)$/;

/** What a network keeps beside its weights, by its name. */
const CONSTANT =
  /^(?:fixed|latent|anchor|mean|avg|template|prototype)\w*$|_(?:avg|mean|fixed|anchors?|templates?)$/;

const RANDOM =
  /rand|draw|jitter|bernoulli|multinomial|noise|sampl|augment|shuffle|drop|next|iter|pop|get_batch|crop|mix|perm|choice|read|recv|reset|step/i;

const JUDGES = /^(?:val|valid|validate|eval|evaluate|test|infer|score)(?:_\w+)?$/;

/** In which sense a run gives the same each time: in every turn of the loop around, or in every step. */
export function likelyRepeat(call: Call, facts: Facts): "turn" | "step" | null {
  const { file } = facts;
  if (call.args.length === 0 || call.args.some((arg) => arg.star === 2)) return null;
  if (isListedAgain(call, facts)) return "step";
  const [loop] = loopsAround(call);
  const net = networkOf(call, facts);
  if (net === null) return loop && isJudgedAgain(call, loop, facts) ? "turn" : null;
  const frozen = FROZEN.test(lastWord(net)) || facts.networks.isFrozen(net);
  const quiet = facts.gradMode(call) === "off";
  if (!loop) {
    // What is asked without gradients need not be frozen by its name, if no optimizer is seen to have it.
    const untrained = frozen || (quiet && PART.test(lastWord(net))) || facts.once(leftOutRuns).has(call);
    if (!untrained || !facts.everyStep(call)) return null;
    return call.args.every(({ value }) => isMadeOnce(value, facts)) && !isTrained(net, file) ? "step" : null;
  }
  if (facts.frequency(call, loop) === "throttled" || !(facts.mayBeHot(call) || facts.anyTraining))
    return null;
  if (!isSame(call.func, loop, facts) || !call.args.every(({ value }) => isSame(value, loop, facts)))
    return null;
  if (!call.args.some(({ value }) => hasName(value)) || isDifferentiated(call, facts)) return null;
  if (isUnderTurning(call, loop, facts)) return null;
  if (learnsIn(loop, file))
    return (FROZEN.test(lastWord(net)) || (quiet && isLeftTarget(net, loop, file))) &&
      (quiet || !isHandedAll(call, facts)) &&
      !isTrained(net, file) &&
      !isRenewed(net, loop, file)
      ? "step"
      : null;
  return loop.kind === "For" &&
    !/^(?:range|trange)\(/.test(file.textOf(loop.iter)) &&
    facts.hot(call) !== null
    ? "turn"
    : loop.kind === "For" &&
        (!isUnnamed(loop, file) ||
          isJudge(net, quiet, file) ||
          ((quiet || asksForInputs(loop, file)) && isAttack(loop, file))) &&
        facts.hot(call) !== null
      ? "turn"
      : null;
}

/** What a class runs, and none of its optimizers has. */
const leftOutRuns = (facts: Facts): ReadonlySet<Call> =>
  new Set([...leftOutOfClass(facts)].map(({ run }) => run));

/** `for _ in range(steps):` that moves an input by its gradient, with a network that was put into eval mode: it drops nothing. */
function isAttack(loop: Loop, file: PythonFile): boolean {
  const fn = functionOf(loop);
  return (
    fn !== null &&
    /\bautograd\.grad\(|\.grad\b/.test(file.codeOf(loop)) &&
    /\.eval\(\)/.test(file.codeOf({ start: fn.start, end: loop.start }))
  );
}

/** `self.critic_target` in several updates on one batch, after which it follows what has learnt: in the loop nothing speaks of that. */
const isLeftTarget = (net: Expr, loop: Loop, file: PythonFile): boolean =>
  /(?:^|_)target(?:_\w+)?$/i.test(lastWord(net)) &&
  !/update|sync|polyak|copy|soft_|lerp/i.test(file.codeOf(loop));

/** A teacher that is only asked, in a file that puts some network into eval mode: it drops nothing. */
const isJudge = (net: Expr, quiet: boolean, file: PythonFile): boolean =>
  quiet && FROZEN.test(lastWord(net)) && file.says(/\.eval\(\)/) && !isTrained(net, file);

/** `torch.autograd.grad(loss, [adversary])` alone: no network is asked for a gradient, so that what it gives of another input is a constant. */
function asksForInputs(loop: Loop, file: PythonFile): boolean {
  const code = file.codeOf(loop);
  return /\bautograd\.grad\(/.test(code) && !/\.backward\(|parameters\(/.test(code);
}

/** The network that is run: `teacher` of `teacher(x)` and of `teacher.encode(x)`. */
function networkOf(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  const word = lastWord(func);
  if (DRAWS.test(word) || CHANGES.test(word) || RANDOM.test(word) || facts.file.dotted(func) !== null)
    return null;
  if (
    facts.networks.isLoss(func) ||
    /loss|criterion|tokeniz|schedul|optim|transform|metric|grads?(?:_|$)|^(?:save|load|push|from|set|add)_/i.test(
      word,
    )
  )
    return null;
  if (isBounding(func)) return null;
  // `with torch.no_grad(): self.net.decoder(…)`
  if (func.kind === "Attribute" && PART.test(word) && facts.gradMode(call) === "off") return func;
  if (func.kind === "Attribute" && RUNS.test(word)) {
    const name = lastWord(func.value);
    return FROZEN.test(name) || isNetwork(func.value, facts) ? func.value : null;
  }
  if (func.kind === "Attribute" && func.value.kind !== "Name" && func.value.kind !== "Attribute") return null;
  return FROZEN.test(word) || isNetwork(func, facts) ? func : null;
}

/** What people call the halves of a network. */
const PART = /^(?:net)?(?:[Ee]ncoder|[Dd]ecoder|[Gg]enerator|_?G|backbone|unet)$/;

/** `balance.clip(min=0.1)` of a tensor, `self.clip_gradients(opt)`: a bound, not the network of that name. */
function isBounding(func: Expr): boolean {
  const word = lastWord(func);
  if (/^clip_(?:grad|norm|val|param|weight|by|and|coef|range|ratio|box|bound)/.test(word)) return true;
  return word === "clip" && func.kind === "Attribute" && selfAttribute(func) === null;
}

/** `validate(loader, teacher, criterion)` in every epoch of a training. */
function isJudgedAgain(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  return (
    JUDGES.test(lastWord(call.func)) &&
    call.args.some(({ value }) => value.kind === "Name" && FROZEN.test(value.id)) &&
    call.args.every(({ value }) => isSame(value, loop, facts)) &&
    call.args.every(
      ({ value }) => value.kind !== "Name" || !FROZEN.test(value.id) || !isRenewed(value, loop, file),
    ) &&
    facts.frequency(call, loop) !== "throttled" &&
    (learnsIn(loop, file) || /\btrain\w*\(/.test(file.codeOf(loop)))
  );
}

/** Networks that a loop asks one after the other, and does not train, by their name. */
const ASKED =
  /feature_?(?:extract\w*|nets?)|extractors?$|teacher|frozen|vgg|lpips|percept|pretrained|inception|(?:^|_)(?:ref|reference|clip|dino)_/i;

/**
 * `for i in range(n):`, or `for net, prepare in zip(extractors, transforms):`, in each step of what optimises an image or a latent,
 * and `wanted = extractors[i](transforms[i](image))` in there without gradients, or `[net(image) for net in extractors]`: each of them gives the same in every step.
 */
function isListedAgain(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const { func } = call;
  if (func.kind !== "Subscript" && func.kind !== "Name") return false;
  const through = clauseAround(call);
  const loops = loopsAround(call);
  const [inner, outer] = through ? [through, loops[0]] : loops;
  if (!inner || inner.kind === "While" || !outer || facts.gradMode(call) !== "off") return false;
  const turned = new Set(namesIn(inner.target).map(({ id }) => id));
  const list = func.kind === "Subscript" ? func.value : func;
  const picks = namesIn(func.kind === "Subscript" ? func.index : func);
  if (!picks.some(({ id }) => turned.has(id)) || !picks.every(({ id }) => turned.has(id))) return false;
  if (!ASKED.test(lastWord(list)) && !(func.kind === "Name" && ASKED.test(file.textOf(inner.iter))))
    return false;
  const same = (expr: Expr): boolean => isSame(expr, outer, facts, 0, turned);
  return (
    facts.backwards.some((one) => contains(outer, one.call)) &&
    // Of what a batch brings, nothing comes again.
    (outer.kind === "While" || /^(?:range|trange|tqdm\(range|count)\(/.test(file.textOf(outer.iter))) &&
    [list, ...call.args.map(({ value }) => value)].every(same) &&
    same(inner.iter) &&
    call.args.some(({ value }) => namesIn(value).some(({ id }) => !turned.has(id))) &&
    !isTrained(list, file) &&
    facts.frequency(call, outer) !== "throttled" &&
    (inner.kind !== "For" || !isUnderTurning(call, inner, facts))
  );
}

/** `for net in nets` of `[net(image) for net in nets]`. */
function clauseAround(call: Call): Clause | null {
  const { parent } = call;
  const [clause, ...more] = parent?.kind === "Comp" ? parent.clauses : [];
  return clause && more.length === 0 && !contains(clause.iter, call) ? clause : null;
}

/** What the loop binds nowhere, writes into nowhere, and draws no part of; `turned`: what a loop in there goes through anew. */
function isSame(
  expr: Expr,
  loop: Node,
  facts: Facts,
  depth = 0,
  turned: ReadonlySet<string> | null = null,
): boolean {
  const { file } = facts;
  let same = true;
  walk(expr, (node) => {
    if (!same) return false;
    const again = node.kind === "Call" ? repeated(node) : null;
    if (again) {
      same &&= isSame(again, loop, facts, depth, turned);
      return false;
    }
    if (node.kind === "Call" && (RANDOM.test(lastWord(node.func)) || lastWord(node.func).endsWith("_")))
      same = false;
    if (node.kind === "Lambda" || node.kind === "Comp") same = false;
    const own = node.kind === "Attribute" ? selfAttribute(node) : null;
    if (own !== null) {
      same &&= isKept(node as Expr, own, file);
      return false;
    }
    if (node.kind === "Attribute" && /^(?:device|dtype)$/.test(node.attr)) return false;
    if (node.kind === "Name" && !turned?.has(node.id)) {
      const definitions = file.scopes.lookup(node)?.definitions ?? [];
      const inside = definitions.filter((one) => contains(loop, one.node));
      const [only] = inside;
      // What is optimised there may be behind it: `fake = generator(latent)`.
      const remade =
        turned === null &&
        inside.length === 1 &&
        definitions.length === 1 &&
        only!.how === "assign" &&
        only!.value !== null &&
        depth < 3 &&
        isSame(only!.value, loop, facts, depth + 1);
      if ((inside.length > 0 && !remade) || isChanged(node, loop, facts, networkRead(node))) same = false;
    }
    return same;
  });
  return same;
}

/** `vgg` of `trainer.vgg(x)`, which is a network, and none that `trainer.gap = …` sets. */
function networkRead({ parent }: Expr): string | undefined {
  return parent?.kind === "Attribute" && FROZEN.test(parent.attr) ? parent.attr : undefined;
}

/** What brings back what a run had before it was stopped. */
const RESTORES =
  /^(?:load|restore|resume)(?:_(?:checkpoint|models?|weights|networks?|state(?:_dict)?|agent))?$/;

/** What only `__init__` sets, or a method that loads it again; a layer, or a method, that nothing sets here as well. */
function isKept(node: Expr, own: string, file: PythonFile): boolean {
  const cls = classOf(node);
  const writes = cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
  return (
    writes.every(
      ({ in: method, how, value }) =>
        (method.name === "__init__" || RESTORES.test(method.name)) &&
        how !== "augment" &&
        !(value !== null && /\bParameter\(|requires_grad/.test(file.textOf(value))),
    ) &&
    !file.says(
      new RegExp(`self\\.${own}(?:\\[[^\\n\\]]*\\] *[-+*/]?=[^=]|\\.(?!requires_grad_)\\w*[a-z]_\\()`),
    )
  );
}

/** `self.anchors` that only `__init__` sets, `class_tokens` that is handed in, beside settings. */
function isMadeOnce(expr: Expr, facts: Facts): boolean {
  let at = expr;
  for (;;) {
    // `self.latent_avg[None]`
    if (at.kind === "Subscript" && namesIn(at.index).length === 0) at = at.value;
    else if (at.kind === "Call" && at.func.kind === "Attribute" && RESHAPES.test(at.func.attr))
      at = at.func.value;
    else break;
  }
  if (at.kind === "Const" || at.kind === "Num" || at.kind === "Str") return true;
  // `torch.zeros(1, 72, device=self.device)`
  if (at.kind === "Call" && /^torch\.(?:zeros|ones|eye|full)$/.test(facts.file.dotted(at.func) ?? ""))
    return at.args.every(
      ({ name, value }) => name !== null || value.kind === "Num" || isSetting(value, facts),
    );
  if (at.kind === "List" || at.kind === "Tuple") return at.items.every((item) => isMadeOnce(item, facts));
  // `self.net.latent_avg`, a constant of a network by its name
  if (at.kind === "Attribute" && selfAttribute(at.value) !== null)
    return CONSTANT.test(at.attr) && isKept(at.value, selfAttribute(at.value)!, facts.file);
  const own = selfAttribute(at);
  if (own !== null) {
    const cls = classOf(at);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    return (writes.length > 0 || SAME.test(own)) && isKept(at, own, facts.file);
  }
  return (
    at.kind === "Name" &&
    SAME.test(at.id) &&
    facts.file.scopes.reaching(at).every(({ how }) => how === "param")
  );
}

/** `self.width` that only `__init__` sets. */
function isSetting(expr: Expr, { file }: Facts): boolean {
  const own = selfAttribute(expr);
  return own !== null && isKept(expr, own, file);
}

function hasName(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= node.kind === "Name" || node.kind === "Str";
    return !found;
  });
  return found;
}

/** `if weight > 0.9:` of a weight that turns with the loop. */
export function isUnderTurning(call: Call, loop: Loop, facts: Facts): boolean {
  for (let at: Node | null = call; at && at !== loop; at = at.parent)
    if (at.kind === "If" && !contains(at.test, call) && !isSame(at.test, loop, facts)) return true;
  return false;
}

/** What the function is handed may be somebody's output, which gradients go back to. */
const isHandedAll = (call: Call, { file }: Facts): boolean =>
  call.args.every(
    ({ value }) =>
      value.kind === "Name" &&
      !SAME.test(value.id) &&
      file.scopes.reaching(value).some(({ how }) => how === "param"),
  );

const isDifferentiated = (call: Call, { backwards }: Facts): boolean =>
  backwards.some(({ loss }) => loss !== null && contains(loss, call));

const learnsIn = (loop: Loop, file: PythonFile): boolean =>
  /\b(?:backward\w*|step|(?:\w+_)?update\w*|optimi[sz]e\w*|learn|train_\w+|training_step|fit|apply_gradients)\(/.test(
    file.codeOf(loop),
  );

/** `teacher.train()`, `Adam(teacher.parameters())` */
export const isTrained = (net: Expr, file: PythonFile): boolean =>
  file.says(
    new RegExp(
      `(?:Adam\\w*|SGD|RMSprop|optim\\w*)\\([^\\n]*\\b${lastWord(net)}\\.(?:module\\.)?parameters\\(|\\b${lastWord(net)}\\.train\\(\\s*(?:True)?\\)`,
    ),
  );

/** `update(teacher, student)`, `teacher.load_state_dict(…)`, `zip(teacher.parameters(), …)` in the loop. */
const isRenewed = (net: Expr, loop: Loop, file: PythonFile): boolean =>
  new RegExp(
    `\\b${lastWord(net)}(?:\\.module)?\\.(?:load_state_dict|\\w*parameters|data|update\\w*|weight)\\b|(?:update|ema|copy|sync|load)\\w*\\([^()]*\\b${lastWord(net)}\\b|\\b${lastWord(net)} ?= `,
    "i",
  ).test(file.codeOf(loop));

/** `for _ in range(n)`, of which the turn is not asked: what is drawn by dropout is another each time. */
function isUnnamed(loop: Loop, file: PythonFile): boolean {
  if (loop.kind !== "For" || loop.target.kind !== "Name") return false;
  const { id } = loop.target;
  return !loop.body.some((statement) => new RegExp(`\\b${id}\\b`).test(file.textOf(statement)));
}
