import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** What gives a copy the weights of another again, or an average of both. */
const FOLLOWS = /^load_(?:state|state_dict|weights|from)$/;

/** What a copy is handed to for that. */
const UPDATES = /update|ema|polyak|copy|sync|zip/;

/** Of what a copy is asked, this trains nothing. */
const IDLE =
  /^(?:eval|to|cuda|cpu|state_dict|half|float|save\w*|load\w*|init\w*|forward\w*|encode\w*|reset\w*)$/;

/**
 * `target = deepcopy(mac)`, whose own parameters nobody asks for, and which is given the weights of `mac` again: a target that
 * follows what learns, whatever it is called.
 */
export function isFollower(net: Expr, facts: Facts): boolean {
  const known = facts.once(followers);
  return known.size > 0 && known.has(facts.networks.key(net));
}

/** The networks of a file that do, by their keys. */
function followers(facts: Facts): ReadonlySet<unknown> {
  const { file, networks } = facts;
  const found = new Set<unknown>();
  for (const call of file.callsNamed("deepcopy")) {
    const [target, ...more] = call.parent?.kind === "Assign" ? call.parent.targets : [];
    const from = call.args[0]?.value;
    if (!target || more.length > 0 || !from || file.dotted(call.func) !== "copy.deepcopy") continue;
    const key = networks.key(target);
    if (key === null || found.has(key) || !isOnlyCopied(target, file)) continue;
    const asked = [...file.all(target.kind === "Name" ? "Name" : "Attribute")].filter(
      (one) => one !== target && networks.key(one) === key,
    );
    if (isLearning(from, facts) && asked.some(follows) && asked.every((one) => isIdle(one))) found.add(key);
  }
  return found;
}

/** Made by copying alone, or not at all: `self.target = None`. */
function isOnlyCopied(target: Expr, file: PythonFile): boolean {
  const isCopy = (value: Expr | null): boolean =>
    (value?.kind === "Const" && value.value === null) ||
    (value?.kind === "Call" && file.dotted(value.func) === "copy.deepcopy");
  if (target.kind === "Name")
    return (file.scopes.lookup(target)?.definitions ?? []).every(({ value }) => isCopy(value));
  const own = selfAttribute(target);
  const cls = classOf(target);
  const writes = own !== null && cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
  return writes.length > 0 && writes.every(({ value }) => isCopy(value));
}

/** Somebody asks for the parameters of what was copied. */
function isLearning(from: Expr, { file, networks }: Facts): boolean {
  const key = networks.key(from);
  return (
    key !== null &&
    file
      .callsNamed("parameters", "trainable_parameters", "named_parameters")
      .some(({ func }) => func.kind === "Attribute" && networks.key(func.value) === key)
  );
}

/** `target.load_state_dict(…)`, `zip(target.parameters(), net.parameters())`, `soft_update(target, net)` */
function follows(use: Expr): boolean {
  if (use.parent?.kind === "Attribute") return FOLLOWS.test(use.parent.attr) || isZipped(use.parent);
  return isUpdated(use);
}

/** In an argument of what updates it. */
function isUpdated({ parent }: Expr): boolean {
  return (
    parent?.kind === "Arg" && parent.parent?.kind === "Call" && UPDATES.test(lastWord(parent.parent.func))
  );
}

/** `target.parameters()` beside those of another. */
function isZipped(asked: Expr & { kind: "Attribute" }): boolean {
  const call = asked.parent?.kind === "Call" && asked.parent.func === asked ? asked.parent : null;
  return call !== null && asked.attr.endsWith("parameters") && isUpdated(call);
}

/** Run, written, or asked for what does not train it. */
function isIdle(use: Expr): boolean {
  const { parent } = use;
  if (parent?.kind === "Assign") return parent.targets.includes(use);
  if (parent?.kind === "Call") return parent.func === use;
  if (parent?.kind === "Attribute" && parent.value === use) return IDLE.test(parent.attr) || isZipped(parent);
  return isUpdated(use) || parent?.kind === "Compare";
}

/** The calls that run such a network, by itself or by a method. */
export function runsOfFollowers(facts: Facts): readonly Call[] {
  if (facts.once(followers).size === 0) return [];
  return facts.file
    .all("Call")
    .filter(({ func }) => (func.kind === "Name" || func.kind === "Attribute") && isFollower(func, facts));
}
