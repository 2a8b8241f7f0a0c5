import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Arg, Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { isModuleRole, isSelf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isNetwork, networkOfLoss } from "./networks.ts";
import { inferringWords } from "./inferring.ts";
import { callTarget } from "./summary.ts";

/** The network that `model.loss(batch)` runs, unless a method of this file of that name switches recording off itself. */
export function lossRun(call: Call, facts: Facts): Expr | null {
  const { file } = facts;
  const net = networkOfLoss(call, facts);
  if (!net) return null;
  const name = lastWord(call.func);
  return file
    .all("FunctionDef")
    .some((fn) => fn.name === name && /no_grad|inference_mode|set_grad_enabled/.test(file.codeOf(fn)))
    ? null
    : net;
}

/**
 * The network, of those that were switched, that `model.score(x)` runs: methods of this file's networks of that name run
 * layers, and none of them switches recording off.
 */
export function ranByMethod(
  { func }: Call,
  modes: { readonly has: (text: string) => boolean },
  facts: Facts,
): Expr | null {
  const { file } = facts;
  if (func.kind !== "Attribute" || isSelf(func.value)) return null;
  // `net.module.infer(x)`
  const { value } = func;
  const net = value.kind === "Attribute" && value.attr === "module" ? value.value : value;
  if (!modes.has(file.textOf(value)) && !modes.has(file.textOf(net)) && !innerOf(file.textOf(value), modes))
    return null;
  if (isFrozenWhole(net, facts)) return null;
  if (facts.guesses && inferringWords(facts.project).get(func.attr) === true) return net;
  if (net !== value) return null;
  const methods = file
    .all("FunctionDef")
    .filter(
      ({ name, parent }) =>
        name === func.attr && parent?.kind === "ClassDef" && isModuleRole(facts.role(parent)),
    );
  return methods.length > 0 && methods.every((fn) => runsLayers(fn, facts)) ? func.value : null;
}

/** What an object is all about that keeps one network and is called itself: `ranker.model` of `ranker`. */
export function innerOf(whole: string, modes: { readonly has: (text: string) => boolean }): string | null {
  return INNER.map((part) => `${whole}.${part}`).find((text) => modes.has(text)) ?? null;
}

const INNER = ["model", "module", "net", "network"] as const;

/** `gan.G`, a network of an object around several, of which this is the name. */
export function isPartOf(callee: Expr, whole: string, facts: Facts): boolean {
  return (
    callee.kind === "Attribute" &&
    facts.file.textOf(callee.value) === whole &&
    (isNetwork(callee, facts) || /^(?:net_?)?[DEG](?:_\w+)?$/.test(callee.attr)) &&
    !facts.networks.isLoss(callee) &&
    !facts.networks.isFrozen(callee)
  );
}

/** `net.freeze()`, as Lightning has it, after which nothing is recorded of what only data goes into. */
function isFrozenWhole(net: Expr, { file }: Facts): boolean {
  return file
    .callsNamed("freeze")
    .some(
      ({ args, func }) =>
        args.length === 0 &&
        func.kind === "Attribute" &&
        functionOf(func) === functionOf(net) &&
        file.textOf(func.value) === file.textOf(net),
    );
}

function runsLayers(fn: FunctionDef, facts: Facts, depth = 0): boolean {
  let found = false;
  walk(fn, (node) => {
    const own = node.kind === "Call" ? selfAttribute(node.func) : null;
    if (found || node.kind !== "Call" || (own === null && !isSelf(node.func))) return !found;
    if (lexicalGrad(node, facts.file) !== null) return true;
    // By another method of the class, too.
    const method =
      depth < 2 && own !== null ? methodsOf(classOf(fn)!).find(({ name }) => name === own) : null;
    found = method ? runsLayers(method, facts, depth + 1) : own === null || isNetwork(node.func, facts);
    return !found;
  });
  return found;
}

export function isPart(net: Expr, facts: Facts): boolean {
  const cls = selfAttribute(net) === null ? null : classOf(net);
  return (
    cls !== null && isModuleRole(facts.role(cls)) && isNetwork(net, facts) && !facts.networks.isLoss(net)
  );
}

/** The network that `self._predict(batch)` of this file runs, among those that were switched. */
export function runIn(
  call: Call,
  modes: ReadonlyMap<string, unknown> | ReadonlySet<string>,
  { file }: Facts,
): Expr | null {
  if (call.func.kind !== "Name" && selfAttribute(call.func) === null) return null;
  const target = callTarget(call, file);
  const name = call.func.kind === "Name" ? call.func.id : selfAttribute(call.func);
  const fn = file.functionNamed(target);
  // One inside this function is judged by itself.
  if (fn?.name !== name || functionOf(fn)) return null;
  for (const text of modes.keys()) {
    const run = file
      .callsNamed(/\w+$/.exec(text)?.[0] ?? "")
      .find((one) => contains(fn, one) && file.textOf(one.func) === text && lexicalGrad(one, file) === null);
    if (run) return run.func;
  }
  return null;
}

/** A network, or a method of one: `actor.get_action(obs)`. */
export function runsNetwork({ func }: Call, facts: Facts): boolean {
  const net = facts.file.dotted(func) === null && isNetwork(func, facts) ? func : null;
  const owner =
    func.kind === "Attribute" &&
    /^(?:forward|act|get_\w*action\w*|sample\w*|encode\w*|decode\w*|predict|get_value|get_features)$/.test(
      func.attr,
    ) &&
    facts.value(func.value).what === "module"
      ? func.value
      : null;
  const one = net ?? owner;
  return one !== null && !facts.networks.isLoss(one) && !facts.networks.isFrozen(one);
}

/** Where a network under a name is run, here or by a function of this file that is handed it; null where it is put to another use. */
export function runsOf(bound: Node, facts: Facts, depth = 0): readonly Expr[] | null {
  const { file } = facts;
  const made = depth < 3 ? file.scopes.definitionAt(bound) : null;
  const runs: Expr[] = [];
  for (const use of made ? file.scopes.uses(made) : []) {
    const { parent } = use;
    if (parent?.kind === "Call") {
      runs.push(use);
      continue;
    }
    const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
    const fn = call?.kind === "Call" ? file.functionNamed(callTarget(call, file)) : null;
    const name = fn && (parent as Arg).name;
    const param = fn?.params.find(
      (one, at) =>
        (name ? one.name === name : at === (call as Call).args.indexOf(parent as Arg)) && one.star === 0,
    );
    const theirs = param ? runsOf(param, facts, depth + 1) : null;
    if (theirs === null) return null;
    runs.push(...theirs);
  }
  return made ? runs : null;
}
