import { argument, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { steppedBy } from "./anothers-steps.ts";
import { callsBehind } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { moved } from "./naming.ts";
import { isNetwork } from "./networks.ts";
import { makesOptimizer } from "./optimised.ts";
import { optimizerSteps } from "./training.ts";

const CLASSES = /^[A-Z]/;

/** The run of a network behind a loss from which only inputs learn. */
export interface LearningInput {
  readonly run: Call;
  readonly network: string;
  readonly input: string;
}

/**
 * `optimizer = SGD([images], lr)` of `images = torch.randn(…, requires_grad=True)`, and a loss through a network that is made
 * in the same function: the pictures learn, and the network's own gradients are computed on the way and used by nobody.
 */
export function* learningInputs(facts: Facts): Generator<LearningInput> {
  const { file } = facts;
  for (const made of file.calls.matching(CLASSES)) {
    const leaves = makesOptimizer(made, file) ? leavesOf(argument(made, "params", 0), file) : [];
    const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    const fn = functionOf(made);
    if (leaves.length === 0 || target?.kind !== "Name") continue;
    for (const { call, loss } of facts.backwards) {
      // The next step below it is that of the inputs' optimizer.
      const next = optimizerSteps(file).find((step) => functionOf(step) === fn && step.start > call.start);
      if (!loss || functionOf(call) !== fn || !next || file.textOf(steppedBy(next)) !== target.id) continue;
      const behind = callsBehind(loss, facts, true, true);
      const run = behind.find((one) => {
        const network = networkOf(one, facts);
        return (
          network !== null &&
          functionOf(one) === fn &&
          facts.gradMode(one) === "on" &&
          isGiven(one, leaves, file) &&
          isMadeHere(network, fn, file) &&
          !isHeldByOther(network, file) &&
          !freezes(file.codeOf(fn ?? file.tree.module), network.id)
        );
      });
      if (run) yield { run, network: networkOf(run, facts)!.id, input: leaves[0]!.id };
      break;
    }
  }
}

/** `[image]`, of which each is a tensor that is asked to learn. */
function leavesOf(params: Expr | null, file: PythonFile): readonly Name[] {
  const listed = params?.kind === "Name" ? file.scopes.onlyValue(params) : params;
  if ((listed?.kind !== "List" && listed?.kind !== "Tuple") || listed.items.length === 0) return [];
  const leaves = listed.items.filter((item): item is Name => item.kind === "Name" && isLeaf(item, file));
  return leaves.length === listed.items.length ? leaves : [];
}

/** `torch.randn(…, requires_grad=True)`, `content.clone().requires_grad_(True)` */
function isLeaf(name: Name, { scopes }: PythonFile): boolean {
  const values = scopes.reaching(name).map(({ value }) => value);
  return (
    values.length > 0 &&
    values.every((value) => {
      if (value?.kind !== "Call") return false;
      const asked = keyword(value, "requires_grad")?.value;
      if (asked && isTrue(asked)) return true;
      return value.func.kind === "Attribute" && value.func.attr === "requires_grad_";
    })
  );
}

/** `net` of `net(x)`, and of `embed(x)` after `embed = net.module.embed if several else net.embed`. */
function networkOf({ func }: Call, facts: Facts): Name | null {
  const { file } = facts;
  if (func.kind === "Name" && isNetwork(func, facts)) return func;
  const named = func.kind === "Name" ? file.scopes.onlyValue(func) : func;
  const methods = named?.kind === "IfExp" ? [named.body, named.orelse] : named ? [named] : [];
  const roots = methods.map((method) => {
    let at = method;
    while (at.kind === "Attribute") at = at.value;
    return at.kind === "Name" && method.kind === "Attribute" ? at : null;
  });
  const [root] = roots;
  return root && roots.every((one) => one?.id === root.id) && isNetwork(root, facts) ? root : null;
}

/** What it is given comes from the inputs that learn. */
function isGiven(run: Call, leaves: readonly Name[], file: PythonFile): boolean {
  const ids = new Set(leaves.map(({ id }) => id));
  const seen = new Set<unknown>();
  const comes = (expr: Expr): boolean => {
    let found = false;
    walk(expr, (node) => {
      if (node.kind === "Name" && ids.has(node.id)) found = true;
      else if (node.kind === "Name")
        for (const one of file.scopes.reaching(node)) {
          if (seen.has(one) || !one.value || one.how === "param") continue;
          seen.add(one);
          found ||= comes(one.value);
        }
      return !found;
    });
    return found;
  };
  return run.args.some(({ value }) => comes(value));
}

/** Of what it was handed, whoever did may have frozen it. */
function isMadeHere(network: Name, fn: ReturnType<typeof functionOf>, file: PythonFile): boolean {
  const definitions = file.scopes.reaching(network);
  return (
    definitions.length > 0 &&
    definitions.every(
      ({ how, value, node }) =>
        how === "assign" &&
        value !== null &&
        (moved(value).kind === "Call" || moved(value).kind === "Name") &&
        !/requires_grad|freeze|frozen/i.test(file.textOf(value)) &&
        contains(fn ?? file.tree.module, node),
    )
  );
}

/** `net.parameters()` in another optimizer. */
function isHeldByOther({ id }: Name, file: PythonFile): boolean {
  return file.callsNamed("parameters", "named_parameters").some(({ func, parent }) => {
    if (func.kind !== "Attribute" || func.value.kind !== "Name" || func.value.id !== id) return false;
    return parent?.kind === "Arg" && parent.parent?.kind === "Call" && makesOptimizer(parent.parent, file);
  });
}
