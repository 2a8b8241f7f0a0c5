import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Chosen } from "./chosen-parameters.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { isParameterless } from "./optimised.ts";

/** What makes an optimizer, of whatever library or one's own. */
const OPTIMIZERS = /optim|^(?:\w*Adam\w*|SGD|RMSprop|Ada\w+|Lion|LAMB|Lamb|LARS|ASGD|Muon|Prodigy)$/i;

/** By these, parameters are put into groups, or what is averaged is left out: the others learn elsewhere, or have no gradients. */
const GROUPS = /bias|norm|bn|decay|teacher|ema|momentum|target|no_wd|requires_grad/i;

/** `def requires_grad(net, flag): p.requires_grad = flag`, of which the calls tell what it is done to. */
export const SWITCH =
  /\.requires_grad\s*=\s*(?:flag|value|mode|\w*requires_grad\w*|trainable|on|enabled?|req\w*)\b/g;

/**
 * `SGD(net.module.head.parameters())`, `AdamW([p for n, p in net.named_parameters() if "adapter" in n])`: a part of a network is all
 * that any optimizer of the file is given, the whole of it is run, and nothing here freezes the rest.
 */
export function* likelyParts(facts: Facts): Generator<Chosen> {
  const { file } = facts;
  const given = optimisedParts(facts);
  const wholes = new Set(given.map(({ network }) => file.textOf(network)));
  for (const one of given) {
    const whole = wholeOf(one.network);
    if (!whole || HOLDS.test(lastWord(whole)) || (whole === one.network && !one.chosen)) continue;
    const name = file.textOf(whole);
    // The rest is in an optimizer as well, or the same is chosen from again.
    const others = given.filter(({ network }) => network !== one.network);
    const isOther = (network: Expr): boolean =>
      file.textOf(network) !== file.textOf(one.network) && file.textOf(wholeOf(network) ?? network) === name;
    // Several parts may be all that there is.
    if (others.some(({ network }) => isOther(network))) continue;
    if (whole !== one.network && wholes.has(name)) continue;
    if (one.chosen && others.some(({ network }) => file.textOf(wholeOf(network) ?? network) === name))
      continue;
    if (!isRun(whole, facts) || isParameterless(whole, file)) continue;
    if (freezes(file.code.replaceAll(SWITCH, ""), name)) continue;
    yield { at: one.at, network: name };
    return;
  }
}

/** What the optimizers of a file are given, where adapters or groups that are added later take nothing in. */
export function optimisedParts({ file, guesses }: Facts): readonly Given[] {
  return !guesses || file.says(/get_peft_model|add_param_group|PEFT|peft\b/)
    ? []
    : file.calls.matching(OPTIMIZERS).flatMap((call) => parametersIn(call, file));
}

interface Given {
  readonly at: Expr;
  readonly network: Expr;
  /** Of all of them, those of some names. */
  readonly chosen: boolean;
}

/** The networks whose parameters are in the arguments of a call, there or by a name they were kept under. */
function parametersIn(call: Call, file: PythonFile): readonly Given[] {
  const found: Given[] = [];
  const look = (expr: Node, depth: number): void =>
    walk(expr, (node) => {
      if (node.kind === "Name" && depth > 0)
        for (const { how, value } of file.scopes.reaching(node))
          if (how === "assign" && value && value.kind !== "Name" && !contains(value, call))
            look(value, depth - 1);
      if (node.kind !== "Call" || node.func.kind !== "Attribute") return true;
      if (!/^(?:named_)?parameters$/.test(node.func.attr)) return true;
      const comp = ancestors(node).find((at) => at.kind === "Comp");
      const tests = comp?.kind === "Comp" ? comp.clauses.flatMap((clause) => clause.tests) : [];
      const asked = tests.map((test) => file.textOf(test)).join(" ");
      if (GROUPS.test(asked)) found.push({ at: node, network: node.func.value, chosen: false });
      else
        found.push({
          at: comp?.kind === "Comp" ? comp : node,
          network: node.func.value,
          chosen: asked !== "",
        });
      return false;
    });
  for (const { value } of call.args) look(value, 2);
  return found;
}

/** What holds networks of which each has an optimizer of its own. */
const HOLDS = /loss|criteri|^(?:models?|nets?|networks|modules)s$|_dict$/i;

/** `net` of `net.module.head` and of `net.layers[-1]`, `self.net` of `self.net.head`; null of what is no part of anything. */
function wholeOf(part: Expr): Expr | null {
  let at = part;
  while (at.kind === "Attribute" || at.kind === "Subscript") {
    if (selfAttribute(at) !== null) return at;
    // `{key: nets[key].parameters() for key in nets}`: all of them.
    if (at.kind === "Subscript" && at.index.kind === "Name") return null;
    at = at.value;
  }
  // `net.module` is the whole itself.
  if (at.kind !== "Name" || at.id === "self") return null;
  return part.kind === "Attribute" && part.attr === "module" && part.value === at ? part : at;
}

/** `net(x)` somewhere that records, or handed to what trains: not a holder of several networks, whose parts alone are run. */
export function isRun(whole: Expr, facts: Facts): boolean {
  const { file } = facts;
  const name = file.textOf(whole);
  const scope = whole.kind === "Name" ? file.scopes.lookup(whole)?.scope : null;
  const isIt = (expr: Expr): boolean =>
    expr.kind === whole.kind &&
    file.textOf(expr) === name &&
    (expr.kind !== "Name" || file.scopes.lookup(expr)?.scope === scope);
  const isHanded = ({ args }: Call): boolean => args.some(({ value }) => isIt(value));
  return file.all("Call").some((call) => {
    if (isIt(call.func)) return facts.gradMode(call) !== "off" && facts.hot(call) !== null;
    // `diffusion.training_losses(net, x, t)`
    const word = lastWord(call.func);
    return (
      (/loss/i.test(word) ||
        (/train|fit|epoch|step/i.test(word) && facts.callee(call)?.reachesBackward === true)) &&
      isHanded(call)
    );
  });
}
