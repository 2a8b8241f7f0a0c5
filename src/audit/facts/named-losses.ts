import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Assign, Call, ClassDef, Expr } from "../../python/tree.ts";
import type { Unwanted } from "./anothers-steps.ts";
import { PLACES, isWithoutGraph } from "./behind-loss.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isDetached } from "./detached.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { lexicalGrad } from "./gradmode.ts";
import { moved } from "./naming.ts";
import { makesOptimizer } from "./optimised.ts";

/** An optimizer by what it is named after, and the last words of the networks it has. */
interface Learns {
  readonly after: string;
  readonly networks: ReadonlySet<string>;
  readonly cls: ClassDef | null;
}

/**
 * `actor_loss = -critic(state, actor(state)).mean()` beside `critic_optimizer`, which has the critic: by its name the actor alone
 * learns from it, wherever it is differentiated, and all losses may be before any step is taken.
 */
export function* inNamedLoss(facts: Facts): Generator<Unwanted> {
  const { file } = facts;
  if (!facts.guesses || !file.mentions("backward")) return;
  const all = file.once(optimizersNamed);
  if (all.length < 2) return;
  for (const loss of file.all("Assign")) {
    const [target] = loss.targets;
    const after = target?.kind === "Name" ? lossAfter(target.id) : null;
    if (after === null || facts.gradMode(loss) === "off") continue;
    const beside = all.filter((one) => one.cls === classOf(loss));
    const own = beside.filter((one) => one.after === after);
    const learning = new Set(own.flatMap(({ networks }) => [...networks]));
    if (learning.size === 0) continue;
    const others = new Set(beside.flatMap(({ networks }) => [...networks]));
    const isOthers = (name: string): boolean => others.has(name) && !learning.has(name);
    const [run] = recordedBehind(loss.value, facts)
      .filter((one) => isOthers(lastWord(one.func)) && functionOf(one) === functionOf(loss))
      .filter((one) => !isFrozenThere(one, loss, file) && !isDetached(one, file))
      .sort((one, other) => one.start - other.start);
    if (run) yield { run, network: file.textOf(run.func) };
  }
}

/** `actor` of `actor_loss` and of `loss_actor`; one word for those that mean the same. */
function lossAfter(name: string): string | null {
  const after = /^([a-z]\w*?)_loss$/.exec(name)?.[1] ?? /^loss_([a-z]\w*)$/.exec(name)?.[1];
  return after === undefined ? null : sameWord(after);
}

const sameWord = (word: string): string =>
  /^(?:policy|pi|actor)$/.test(word)
    ? "actor"
    : /^(?:critic|qf?|q_?net)$/.test(word)
      ? "critic"
      : /^(?:value|vf?)$/.test(word)
        ? "value"
        : /^(?:generator|gen|g|G)$/.test(word)
          ? "generator"
          : /^(?:discriminator|disc?|d|D)$/.test(word)
            ? "discriminator"
            : word;

/** `self.actor_optimizer = Adam(self.actor.parameters())`, and those of parts that have a list: `Adam(get_parameters(self.actor_modules))`. */
function optimizersNamed(file: PythonFile): readonly Learns[] {
  const found: Learns[] = [];
  for (const made of file.all("Call")) {
    const [target] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    const given = target && makesOptimizer(made, file) ? argument(made, "params", 0) : null;
    const name = target && given ? lastWord(target) : "";
    const after =
      /^(\w+?)_opt(?:im(?:izer)?)?$/.exec(name)?.[1] ?? /^opt(?:im(?:izer)?)?_(\w+)$/.exec(name)?.[1];
    if (!given || after === undefined) continue;
    const networks = new Set<string>();
    for (const one of networksIn(given, file)) networks.add(lastWord(one));
    if (networks.size > 0) found.push({ after: sameWord(after), networks, cls: classOf(made) });
  }
  return found;
}

/** `net` of `net.parameters()`, and the networks of lists that are named. */
function networksIn(given: Expr, file: PythonFile): readonly Expr[] {
  const found: Expr[] = [];
  walk(given, (node) => {
    if (node.kind === "Attribute" && /^(?:trainable_|named_)?parameters$/.test(node.attr))
      found.push(moved(node.value));
    const own = node.kind === "Attribute" ? selfAttribute(node) : null;
    const cls = own === null ? null : classOf(node);
    const values = cls
      ? (attributesOf(cls, file).get(own!)?.writes ?? []).map(({ value }) => value)
      : node.kind === "Name"
        ? file.scopes.reaching(node).map(({ value }) => value)
        : [];
    for (const value of values)
      if (value?.kind === "List" || value?.kind === "Tuple") found.push(...value.items);
    return true;
  });
  return found;
}

/** The calls that a loss is computed from with their graphs: what is detached, or made without recording, has none. */
function recordedBehind(expr: Expr, facts: Facts, seen = new Set<Definition>()): readonly Call[] {
  const { file } = facts;
  const found: Call[] = [];
  walk(expr, (node) => {
    if (node.kind === "Lambda" || isWithoutGraph(node)) return false;
    if (node.kind === "Attribute" && node.attr === "data") return false;
    if (node.kind === "Call") {
      if (lastWord(node.func) === "detach" || lexicalGrad(node, file) === "off") return false;
      found.push(node);
    }
    if (node.kind === "Name" && !PLACES.test(node.id) && !file.scopes.binds(node))
      for (const one of file.scopes.reaching(node)) {
        if (seen.has(one) || !one.value || !/^(?:assign|unpack)$/.test(one.how)) continue;
        seen.add(one);
        if (lexicalGrad(one.node, file) !== "off") found.push(...recordedBehind(one.value, facts, seen));
      }
    return true;
  });
  return found;
}

/** `with FreezeParameters(critics):` around the run, or anything in the class that switches gradients off otherwise. */
function isFrozenThere(run: Call, loss: Assign, file: PythonFile): boolean {
  const within = ancestors(run).some(
    (at) =>
      at.kind === "With" &&
      at.items.some((item) => /freez|frozen|grad/i.test(file.textOf(item)) && !contains(item, run)),
  );
  const code = file.codeOf(classOf(loss) ?? file.tree.module);
  return within || freezes(code.replaceAll(/\bwith \w*freez\w*\(/gi, ""), file.textOf(run.func));
}
