import { classOf, functionOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { unpackedFrom } from "./inputs.ts";
import { ranNetwork } from "./networks.ts";

/** Whether a backward of the same function starts from what this call returns. */
export function feedsBackward(call: Call, facts: Facts): boolean {
  return facts.backwards.some(
    ({ call: backward, loss }) =>
      loss !== null &&
      functionOf(backward) === functionOf(call) &&
      reaches(loss, (node) => node === call, facts),
  );
}

/** Whether an expression is computed from what this call returns. */
export function isMadeOf(expr: Expr, call: Call, facts: Facts): boolean {
  return reaches(expr, (node) => node === call, facts);
}

/** The runs of networks that a loss is computed from; those of which it has `.data` alone, `withoutData` leaves out. */
export function runsBehind(
  loss: Expr,
  facts: Facts,
  withoutData = false,
  withoutPlaces = false,
): readonly Call[] {
  return callsBehind(loss, facts, withoutData, withoutPlaces).filter((call) => {
    const run = ranNetwork(call, facts);
    return run !== null && !facts.networks.isLoss(run);
  });
}

/** All calls that a loss is computed from; those that only tell it places and sizes, `withoutPlaces` leaves out. */
export function callsBehind(
  loss: Expr,
  facts: Facts,
  withoutData = false,
  withoutPlaces = false,
): readonly Call[] {
  const found: Call[] = [];
  reaches(
    loss,
    (node) => {
      if (node.kind === "Call") found.push(node);
      return false;
    },
    facts,
    new Set(),
    withoutData,
    withoutPlaces,
  );
  return found;
}

/** By its name where something is, or how long: `ids_slice`, `x_lengths`. */
export const PLACES = /(?:^|_)(?:ids?|idx|ind(?:ex|ices)|masks?|len(?:gth)?s?)(?:_|$)/;

const CUTS_OFF = /^(?:detach|size|dim|numel|item|tolist)$/;

const DESCRIBES = /^(?:shape|ndim|dtype|device|is_cuda)$/;

/** `made.detach()`, and what only tells how large it is, or where: `_, c, h, w = made.size()`. */
export function isWithoutGraph(node: Node): boolean {
  return node.kind === "Attribute"
    ? DESCRIBES.test(node.attr)
    : node.kind === "Call" && node.func.kind === "Attribute" && CUTS_OFF.test(node.func.attr);
}

/** Whether what an expression is computed from holds a node; detached parts do not count. */
function reaches(
  expr: Expr,
  is: (node: Node) => boolean,
  facts: Facts,
  seen = new Set<Definition | Expr>(),
  withoutData = false,
  withoutPlaces = false,
): boolean {
  let found = false;
  walk(expr, (node) => {
    if (found || node.kind === "Lambda") return false;
    if (is(node)) {
      found = true;
      return false;
    }
    if (isWithoutGraph(node)) return false;
    if (withoutData && node.kind === "Attribute" && node.attr === "data") return false;
    if (withoutPlaces && node.kind === "Name" && PLACES.test(node.id)) return false;
    if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node)) {
        if (seen.has(one) || one.how === "param" || !one.value) continue;
        seen.add(one);
        if (reaches(one.value, is, facts, seen, withoutData, withoutPlaces)) found = true;
      }
    // `self.loss = self.loss + penalty` in the same method.
    const own = node.kind === "Attribute" ? selfAttribute(node) : null;
    const cls = own === null ? null : classOf(node);
    for (const { value, target, in: method } of cls
      ? (attributesOf(cls, facts.file).get(own!)?.writes ?? [])
      : []) {
      const made = value ?? unpackedFrom(target);
      if (!made || seen.has(made) || method !== functionOf(node)) continue;
      seen.add(made);
      if (reaches(made, is, facts, seen, withoutData, withoutPlaces)) found = true;
    }
    return !found;
  });
  return found;
}

/** What another network computed, with its graph. */
export function comesFromNetwork(expr: Expr, except: Expr, facts: Facts): boolean {
  const own = facts.file.textOf(except);
  return reaches(
    expr,
    (node) => {
      const run = node.kind === "Call" ? ranNetwork(node, facts) : null;
      return (
        run !== null &&
        facts.file.textOf(run) !== own &&
        !facts.networks.isFrozen(run) &&
        facts.gradMode(node) !== "off"
      );
    },
    facts,
  );
}
