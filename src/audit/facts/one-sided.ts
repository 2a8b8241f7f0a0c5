import { argument, isFalse, isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { optimizerSteps } from "./training.ts";

/** A network whose parameters are told to require gradients, or not to; null where a flag decides. */
interface Switch {
  readonly at: Node;
  readonly network: string;
  readonly on: boolean | null;
}

/** By its name what judges what another network made. */
const JUDGES = /(?:^|[._])(?:net_?)?[Dd](?:_?[A-Z\d]|is|_\w+)?$|disc(?:r|s|_|$)|discriminator|critic/;

/** Functions that switch by a flag: `toggle_grad(D, True)`, `set_requires_grad([D_A, D_B], False)`. */
const BY_FLAG = /^(?:(?:set_)?requires_grad|toggle_grads?|set_(?:grads?|trainable))$/;

/**
 * `toggle_grad(D, True)` and `toggle_grad(G, False)` for the step of one, and for the other's `toggle_grad(G, True)` alone: who
 * is switched on in its turn and never off learns, and takes gradients, in the other's as well.
 */
export function* switchedOnInTurn(facts: Facts): Generator<{ readonly at: Node; readonly network: string }> {
  const { file } = facts;
  if (!file.says(/requires_grad|toggle_grad|set_(?:grad|trainable)/)) return;
  const steps = new Set(optimizerSteps(file).map((step) => file.textOf(step)));
  if (steps.size < 2) return;
  const all = [...switchesOf(file)];
  const told = new Set<string>();
  for (const { at, network, on } of all) {
    if (on !== true || told.has(network) || !JUDGES.test(network)) continue;
    if (all.some((other) => other.network === network && other.on !== true)) continue;
    const takesTurns = all.some(
      (other) =>
        other.on === false &&
        other.network !== network &&
        outermost(other.at) === outermost(at) &&
        all.some((again) => again.network === other.network && again.on === true),
    );
    if (!takesTurns) continue;
    told.add(network);
    yield { at, network };
  }
}

function outermost(node: Node): Node | null {
  return ancestors(node).findLast(({ kind }) => kind === "FunctionDef") ?? null;
}

function* switchesOf(file: PythonFile): Generator<Switch> {
  for (const call of file.calls.matching(
    /^(?:(?:set_)?requires_grad_?|toggle_grads?|set_(?:grads?|trainable))$/,
  )) {
    const { func, args } = call;
    // `D.requires_grad_(True)`
    if (func.kind === "Attribute" && func.attr === "requires_grad_") {
      const flag = args[0]?.value ?? null;
      yield { at: call, network: file.textOf(func.value), on: flag ? stateOf(flag) : true };
      continue;
    }
    const given = BY_FLAG.test(func.kind === "Attribute" ? func.attr : func.kind === "Name" ? func.id : "")
      ? args[0]?.value
      : null;
    const flag = given ? (argument(call, "requires_grad", 1) ?? args[1]?.value ?? null) : null;
    if (!given || !flag) continue;
    for (const one of given.kind === "List" || given.kind === "Tuple" ? given.items : [given])
      yield { at: call, network: file.textOf(one), on: stateOf(flag) };
  }
  // `for p in D.parameters(): p.requires_grad = True`
  for (const { targets, value, parent } of file.assignsTo("requires_grad")) {
    const [target] = targets;
    if (target?.kind !== "Attribute" || target.attr !== "requires_grad" || parent?.kind !== "For") continue;
    const network = /^([\w.]+)\.parameters\(\)$/.exec(file.textOf(parent.iter))?.[1];
    if (network !== undefined) yield { at: parent, network, on: stateOf(value) };
  }
}

function stateOf(flag: Expr): boolean | null {
  return isTrue(flag) ? true : isFalse(flag) ? false : null;
}
