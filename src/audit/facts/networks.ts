import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, Node, Subscript } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import type { Loop } from "./training.ts";

/** Methods of a result that hand on a tensor of its size, or a view of it. */
const SAME_SIZE = new Set(
  "detach clone contiguous float half bfloat16 double softmax log_softmax sigmoid tanh view reshape transpose permute squeeze unsqueeze flatten to cuda argmax clamp clip exp".split(
    " ",
  ),
);

/** Functions of a result that give as much as they are given, or nearly: activations, and others. */
export const KEEPS_SIZE =
  /^torch\.(?:nn\.functional\.)?(?:(?:log_)?softmax|(?:log)?sigmoid|tanh|(?:leaky_)?relu6?|[gsc]?elu|silu|mish|softplus|dropout|normalize|interpolate|squeeze|flatten)$|^torch\.nn\.utils\.rnn\.pack_padded_sequence$/;

/** Whether the callee is a network: made as one, used as only networks are, or called one and called. */
export function isNetwork(callee: Expr, facts: Facts): boolean {
  if (facts.file.dotted(callee) !== null) return facts.networks.is(callee);
  // `model.forward(x)`
  if (callee.kind === "Attribute" && callee.attr === "forward" && callee.value.kind !== "Call")
    return isNetwork(callee.value, facts);
  return facts.value(callee).what === "module" || facts.networks.is(callee);
}

/** What takes a network out of what it was wrapped in for training. */
const UNWRAPS =
  /^(?:unwrap\w*|get_(?:bare_|raw_|inner_)?(?:model|module)|de_?parallel|strip_\w*(?:ddp|parallel))$/;

/** `model` of `accelerator.unwrap_model(model)` and `utils.get_model(model)`: the network itself, as it is. */
export function unwrapped(expr: Expr): Expr {
  const of = expr.kind === "Call" && UNWRAPS.test(lastWord(expr.func)) ? positional(expr, 0) : null;
  return of?.kind === "Name" || of?.kind === "Attribute" ? of : expr;
}

/** `model.vq_loss`, `model.logit_scale.exp()`, read by `.item()`: what a network keeps and a host asks for like that is a tensor, where the network is. */
export function isReadOffNetwork({ func, args }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || func.attr !== "item" || args.length > 0 || !facts.accelerator)
    return false;
  let kept = func.value;
  while (kept.kind === "Call" && kept.func.kind === "Attribute" && kept.args.length === 0)
    kept = kept.func.value;
  return (
    kept.kind === "Attribute" &&
    selfAttribute(kept) === null &&
    facts.value(func.value).what === "unknown" &&
    isNetwork(kept.value, facts)
  );
}

/** Methods of networks that run them. */
const ACTS =
  /^(?:get_action\w*|act|sample|rsample|evaluate\w*|_?forward\w*|_?encode\w*|_?decode\w*|generate|predict\w*|reconstruct|(?:encode|forward|extract|get)_\w*(?:features?|image|text|latents?))$/;

/** The network that a call runs: `net(x)`, `actor.get_action(x)`, or by a method of its class that calls its layers. */
export function ranNetwork(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  if (func.kind !== "Name" && func.kind !== "Attribute") return null;
  if (isNetwork(func, facts)) return func;
  return func.kind === "Attribute" &&
    (ACTS.test(func.attr) || facts.file.once(layerMethods).has(callTarget(call, facts.file) ?? "")) &&
    isNetwork(func.value, facts)
    ? func.value
    : null;
}

/** Methods of this file's classes that return what they compute with layers: `def q1(self, x): return self.head(x)`. */
function layerMethods(file: PythonFile): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [name, returned] of file.once(returnsByName)) {
    const fn = returned[0] ? functionOf(returned[0]) : null;
    if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "ClassDef" || fn.name.startsWith("__")) continue;
    let calls = false;
    walk(fn, (node) => {
      const own = node.kind === "Call" ? selfAttribute(node.func) : null;
      if (own !== null && isLayer(attributesOf(fn.parent as ClassDef, file).get(own)?.writes[0]?.value, file))
        calls = true;
      return !calls;
    });
    if (calls) found.add(name);
  }
  return found;
}

function isLayer(made: Expr | null | undefined, file: PythonFile): boolean {
  return made?.kind === "Call" && /^torch\.nn\.[A-Z]/.test(file.dotted(made.func) ?? "");
}

/** Methods of networks that run them for a loss: `model.loss(batch)`. */
const LOSS_METHODS =
  /^(?:(?:compute|get|calc|calculate|train|training|forward)_)?(?:(?:all_)?loss(?:es)?|nll|elbo|neg_log_likelihood)$/;

/** The network that `model.loss(batch)` runs; what is given outputs, `model.loss(model(x), y)`, only compares them. */
export function networkOfLoss(call: Call, facts: Facts): Expr | null {
  const { args, func } = call;
  if (func.kind !== "Attribute" || args.length === 0 || !LOSS_METHODS.test(func.attr)) return null;
  const { value } = func;
  if ((value.kind === "Name" && value.id === "self") || !isNetwork(value, facts)) return null;
  return args.every((arg) => networkCall(arg.value, facts) === null && facts.value(arg.value).graph !== "yes")
    ? value
    : null;
}

/** The network's call that this value, or the large part of it, comes from. */
export function networkCall(expr: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 12) return null;
  switch (expr.kind) {
    case "Name": {
      const definitions = facts.file.scopes.reaching(expr);
      const [one, ...more] =
        definitions.length > 1
          ? definitions.filter((definition) => !isPartOf(definition, expr.id, facts))
          : definitions;
      // `if amp: out = net(x)`, `else: out = net(x)`
      if (one && more.length > 0 && more.length < 8) {
        const runs = [one, ...more].map(({ how, value }) =>
          (how === "assign" || (how === "unpack" && value?.kind === "Call")) && value
            ? networkCall(value, facts, depth + 1)
            : null,
        );
        return runs.every((run) => run !== null) ? (runs[0] ?? null) : null;
      }
      if (!one || more.length > 0) return null;
      const { how, value } = one;
      // `for key, feature in zip(keys, features):`
      if (how === "iterate" && value?.kind === "Call")
        return /^builtins\.(?:zip|enumerate)$/.test(facts.file.dotted(value.func) ?? "")
          ? (value.args.map((arg) => networkCall(arg.value, facts, depth + 1)).find((one) => one !== null) ??
              null)
          : null;
      const helper =
        how === "unpack" && value?.kind === "Call" ? helperRun(value, one.index, facts, depth + 1) : null;
      if (helper) return helper;
      const gathered = how === "unpack" && value ? gatheredAt(value, one.index, facts) : null;
      if (gathered) return networkCall(gathered, facts, depth + 1);
      return value && (how === "assign" || how === "unpack" || how === "walrus")
        ? networkCall(value, facts, depth + 1)
        : null;
    }
    case "Attribute":
      return /^(?:shape|device|dtype|loss|ndim)$/.test(expr.attr)
        ? null
        : networkCall(expr.value, facts, depth + 1);
    case "Subscript":
      return networkCall(gatheredBy(expr, facts) ?? expr.value, facts, depth + 1);
    // `out["logits"] if isinstance(out, dict) else out[0]`
    case "IfExp": {
      const runs = [expr.body, expr.orelse].map((one) => networkCall(one, facts, depth + 1));
      return runs.every((run) => run !== null) ? (runs[0] ?? null) : null;
    }
    case "Call": {
      // `model(images, inference="generate")` may return texts.
      if (expr.args.some(({ value }) => value.kind === "Str" && /generat/.test(value.value ?? "")))
        return null;
      if (isNetwork(expr.func, facts)) return expr;
      const of = KEEPS_SIZE.test(facts.file.dotted(expr.func) ?? "") ? expr.args[0]?.value : undefined;
      if (of) return networkCall(of, facts, depth + 1);
      const helper = helperRun(expr, null, facts, depth + 1);
      if (helper) return helper;
      if (expr.func.kind !== "Attribute" || facts.file.dotted(expr.func) !== null) return null;
      // Of all ranks, on the device: `accelerator.gather_for_metrics(logits)`.
      if (GATHERS.test(expr.func.attr) && expr.args[0])
        return networkCall(expr.args[0].value, facts, depth + 1);
      if (!SAME_SIZE.has(expr.func.attr)) return null;
      // To the host, or to a device that somebody else chose.
      if (
        expr.func.attr === "to" &&
        expr.args.some(({ value }) => {
          const device = facts.device(value);
          return device === "cpu" || (device === "unknown" && /device/i.test(facts.file.textOf(value)));
        })
      )
        return null;
      return networkCall(expr.func.value, facts, depth + 1);
    }
    default:
      return null;
  }
}

/** `for loss, last in model(batch):`: a network that hands out what it makes of one part of its input after the other. */
export function runInParts(loop: Loop, facts: Facts): Call | null {
  let run: Expr | null = loop.kind === "For" ? loop.iter : null;
  if (run?.kind === "Call" && /^(?:tqdm|trange|enumerate)$/.test(lastWord(run.func)))
    run = positional(run, 0);
  return run?.kind === "Call" && isNetwork(run.func, facts) && run.args.length > 0 ? run : null;
}

/** What hands back, of all ranks and on the device, what it is given. */
const GATHERS = /^(?:all_)?gather(?:_for_metrics)?$|^pad_across_processes$/;

/** The logits of `logits, labels = accelerator.gather_for_metrics((out.logits, labels))`: it hands back as many as it is given. */
function gatheredAt(expr: Expr, at: number | string | null, { file }: Facts): Expr | null {
  const call = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  if (call?.kind !== "Call" || call.func.kind !== "Attribute" || !GATHERS.test(call.func.attr)) return null;
  const given = call.args[0]?.value;
  if (given?.kind === "Dict")
    return given.values[given.keys.findIndex((key) => key?.kind === "Str" && key.value === at)] ?? null;
  const isSeveral = given?.kind === "Tuple" || given?.kind === "List";
  return isSeveral && typeof at === "number" ? (given.items[at] ?? null) : null;
}

/** The same by its place or its name: `gathered[0]`, `gathered["logits"]`. */
function gatheredBy({ value, index }: Subscript, facts: Facts): Expr | null {
  const at = index.kind === "Num" ? Number(index.text) : index.kind === "Str" ? index.value : null;
  return gatheredAt(value, at, facts);
}

/** `outputs, target = self._predict(batch)` of this file, which returns a network's outputs at that place: the call itself. */
export function helperRun(call: Call, index: number | null, facts: Facts, depth = 0): Call | null {
  const { func } = call;
  if (func.kind !== "Name" && selfAttribute(func) === null) return null;
  const given = returnedBy(call, facts);
  const run = given.length === 0 ? facts.ranElsewhere(call, index) : null;
  if (run) return isNetwork(run, facts) ? call : null;
  const items = given.map((one) => (index === null ? one : one.kind === "Tuple" ? one.items[index] : null));
  return items.length > 0 && items.every((one) => one && networkCall(one, facts, depth + 1) !== null)
    ? call
    : null;
}

/** The runs of networks whose outputs a function of this file returns to a call, as they are. */
export function runsReturnedTo(call: Call, facts: Facts): readonly Call[] {
  return returnedBy(call, facts)
    .flatMap((one) => (one.kind === "Tuple" ? one.items : [one]))
    .flatMap((one) => networkCall(one, facts, 1) ?? []);
}

/** What a function of this file returns to a call; nothing for any other. */
function returnedBy(call: Call, { file }: Facts): readonly Expr[] {
  const target = callTarget(call, file);
  return (target === null ? undefined : file.once(returnsByName).get(target)) ?? [];
}

/** `pred, variance = pred.chunk(2, dim=1)`, under a test: a part of what the name meant before. */
function isPartOf({ how, value }: Definition, name: string, { file }: Facts): boolean {
  if (how !== "unpack" || value?.kind !== "Call") return false;
  const of =
    file.dotted(value.func) === null && value.func.kind === "Attribute"
      ? value.func.value
      : (value.args[0]?.value ?? null);
  return (
    /(?:^|\.)(?:chunk|split|tensor_split)$/.test(file.textOf(value.func)) &&
    of?.kind === "Name" &&
    of.id === name
  );
}

/** Names read below the node whose value comes in from the loop's last turn as well as from before it. */
export function carriedNames(node: Node, loop: Node, facts: Facts): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of facts.file.all("Name")) {
    if (!contains(node, name) || facts.file.scopes.binds(name)) continue;
    const definitions = facts.file.scopes.reaching(name);
    if (
      definitions.some((one) => contains(loop, one.node)) &&
      definitions.some((one) => !contains(loop, one.node))
    )
      found.add(name.id);
  }
  return found;
}
