import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { isPartOf, networksOptimised, steppedBy } from "./anothers-steps.ts";
import type { Unwanted } from "./anothers-steps.ts";
import { callsBehind } from "./behind-loss.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isDetached } from "./detached.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { ranNetwork } from "./networks.ts";
import { optimizerSteps } from "./training.ts";

/**
 * `self.backward_G(); self.optimizer_G.step()`: a method that differentiates, and the step that its caller takes next. What the loss
 * goes through there and another optimizer has, learns from another loss; so does what the class's forward left on self for it.
 */
export function* inStepOfCaller(facts: Facts): Generator<Unwanted> {
  const { file, backwards } = facts;
  const steps = optimizerSteps(file);
  for (const { call, loss } of backwards) {
    const fn = functionOf(call);
    const cls = classOf(call);
    if (!loss || !cls || fn?.kind !== "FunctionDef" || steps.some((step) => functionOf(step) === fn))
      continue;
    const optimised = networksOptimised(file, cls);
    if (optimised.size < 2) continue;
    const known = [...optimised.values()].flatMap((networks) => [...networks]);
    for (const { site, taken } of sitesOf(fn, steps, facts)) {
      const learning = taken.flatMap((one) => [...(optimised.get(one) ?? [])]);
      if (learning.length === 0 || !taken.every((one) => optimised.has(one))) continue;
      const code = `${file.codeOf(fn)}\n${file.codeOf(functionOf(site)!)}`;
      const seen = new Set<string>();
      for (const one of unwantedIn(fn, loss, known, learning, facts)) {
        if (seen.has(one.network) || freezes(code, one.network)) continue;
        seen.add(one.network);
        yield one;
      }
    }
  }
}

/** Where the class calls a method of its own that differentiates, and the optimizers whose steps come next there. */
function sitesOf(
  fn: FunctionDef,
  steps: readonly Call[],
  facts: Facts,
): readonly { readonly site: Call; readonly taken: readonly string[] }[] {
  const { file } = facts;
  const cls = classOf(fn);
  const isOwn = (call: Call): boolean => selfAttribute(call.func) !== null && classOf(call) === cls;
  return file.callsNamed(fn.name).flatMap((site) => {
    const around = functionOf(site);
    if (!around || !isOwn(site)) return [];
    const below = (node: Node): boolean => functionOf(node) === around && node.start > site.end;
    // `self.backward_D_A()`, which differentiates by another method.
    let end = Infinity;
    walk(around, (node) => {
      if (node.kind === "Call" && node.start < end && below(node) && isOwn(node))
        if (facts.callee(node)?.reachesBackward === true) end = node.start;
      return true;
    });
    const taken = steps.filter((step) => below(step) && step.start < end);
    return taken.length > 0 ? [{ site, taken: taken.map((step) => file.textOf(steppedBy(step))) }] : [];
  });
}

function* unwantedIn(
  fn: FunctionDef,
  loss: Expr,
  known: readonly string[],
  learning: readonly string[],
  facts: Facts,
): Generator<Unwanted> {
  const { file } = facts;
  const isUnwanted = (name: string): boolean =>
    known.includes(name) && !learning.some((one) => isPartOf(one, name));
  for (const run of callsBehind(loss, facts, true, true)) {
    const network = ranNetwork(run, facts);
    if (!network || functionOf(run) !== fn || facts.gradMode(run) === "off") continue;
    const name = file.textOf(network);
    if (isUnwanted(name)) yield { run, network: name };
    if (!learning.some((one) => isPartOf(one, name))) continue;
    for (const { value } of run.args)
      for (const left of leftOnSelf(value, file)) {
        const made = madeElsewhere(left, fn, facts);
        if (made && isUnwanted(made)) yield { run, network: made };
      }
  }
}

/** `self.fake` of `torch.cat([self.real, self.fake])`, also by a name for it, unless it is cut off on the way. */
function leftOnSelf(expr: Expr, file: PythonFile, depth = 0): readonly Expr[] {
  const found: Expr[] = [];
  walk(expr, (node) => {
    if (node.kind === "Attribute" && /^(?:detach|data)$/.test(node.attr)) return false;
    // `self.pool.query(self.fake)` may hand back what it cut off.
    if (node.kind === "Call" && !file.dotted(node.func)?.startsWith("torch.")) return false;
    if (node.kind === "Attribute" && selfAttribute(node) !== null) found.push(node);
    const made = node.kind === "Name" && depth < 2 ? file.scopes.onlyValue(node) : null;
    if (made) found.push(...leftOnSelf(made, file, depth + 1));
    return true;
  });
  return found;
}

/** The network that another method of the class ran for it: `self.fake = self.netG(self.real)`. */
function madeElsewhere(left: Expr, fn: FunctionDef, facts: Facts): string | null {
  const cls = classOf(left);
  const writes = cls ? (attributesOf(cls, facts.file).get(selfAttribute(left)!)?.writes ?? []) : [];
  const [one, ...more] = writes.filter((write) => write.in.name !== "__init__");
  if (!one?.value || more.length > 0 || contains(fn, one.target) || one.value.kind !== "Call") return null;
  const network = ranNetwork(one.value, facts);
  return network && facts.gradMode(one.value) !== "off" && !isDetached(one.value, facts.file)
    ? facts.file.textOf(network)
    : null;
}
