import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isOlderThan, saidOf } from "./likely-puts.ts";
import { loopsAround } from "./training.ts";

/** A running average, wherever it is kept, and what a step mixes into it. */
export interface Average {
  readonly at: Node;
  readonly root: Expr;
}

/**
 * `x = 0.9 * x + 0.1 * y`, `x.mul_(0.9).add_(y, alpha=0.1)`, `x.lerp_(y, 0.1)`, `x[:] = a * y + (1 - a) * x`: of what a step computes
 * with gradients recorded, on self, in an entry or in a name that is there before the loop, and cut off nowhere.
 */
export function* likelyAverages(facts: Facts): Generator<Average> {
  // What mixes colours does so on the host, for one example.
  if (/(?:^|[/_])(?:transforms?|augment\w*)(?:\.py$|\/)/.test(facts.file.path)) return;
  for (const { at, root, added } of averages(facts)) {
    const fn = functionOf(at);
    if (facts.gradMode(at) === "off" || STATE.test(facts.file.textOf(root))) continue;
    if (fn?.kind === "FunctionDef" && /^__init__|(?:^|_)(?:eval|test|val|sample)/.test(fn.name)) continue;
    if (!lastsLonger(root, at, facts) || CUT.test(saidWithOwn(added, at, facts.file))) continue;
    if (isEntryCut(added, facts.file) || isInLoss(root, at, facts)) continue;
    if (isOfTensors(added, facts) && !isCutOff(root, at, facts.file)) yield { at, root };
  }
}

interface Mixed extends Average {
  readonly added: Expr;
}

function* averages(facts: Facts): Generator<Mixed> {
  const { file } = facts;
  for (const at of file.all("Assign")) {
    const [target] = at.targets;
    if (!target || at.targets.length > 1 || target.kind === "Tuple") continue;
    // `x[:] = 0.9 * x + 0.1 * y`, `x[c] = 0.9 * x[c] + 0.1 * y`
    const roots =
      target.kind === "Subscript" && target.index.kind !== "Str" ? [target.value, target] : [target];
    const value = at.value.kind === "IfExp" ? [at.value.body, at.value.orelse] : [at.value];
    for (const one of value)
      for (const root of roots) {
        const added = mixedInto(one, root, file);
        if (added) yield { at, root, added };
      }
  }
  for (const call of file.callsNamed("lerp_", "add_")) {
    if (call.func.kind !== "Attribute" || call.args.length === 0) continue;
    const root = call.func.attr === "lerp_" ? call.func.value : scaledInPlace(call.func.value);
    if (root) yield { at: call, root, added: call.args[0]!.value };
  }
}

/** `y` of `0.9 * x + 0.1 * y` and of `x + 0.1 * (y - x)`. */
function mixedInto(value: Expr, root: Expr, file: PythonFile): Expr | null {
  if (value.kind !== "Binary" || (value.op !== "+" && value.op !== "-")) return null;
  const own = file.textOf(root);
  // `getattr(self, "mean", 0)` of `self.mean`
  const asked = root.kind === "Attribute" ? `getattr(${file.textOf(root.value)}, "${root.attr}"` : own;
  const isOwn = (one: Expr): boolean =>
    one.kind === "Binary" && one.op === "*"
      ? isOwn(one.left) || isOwn(one.right)
      : file.textOf(one) === own || file.textOf(one).replaceAll("'", '"').startsWith(`${asked},`);
  const { left, right } = value;
  const scaled = [left, right].some((one) => one.kind === "Binary" && one.op === "*");
  if (!scaled || isOwn(left) === isOwn(right)) return null;
  return isOwn(left) ? right : left;
}

/** `x` of `x.mul_(0.9)` */
function scaledInPlace(expr: Expr): Expr | null {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "mul_"
    ? expr.func.value
    : null;
}

/** States of a recurrence, moments of an optimizer, weights, and rates: those are no statistics. */
const STATE =
  /(?:^|[._])(?:h|c|hx|cx|hidden|cell|mem|memory|state|carry|momentum_buffer|exp_avg\w*|weights?|params?|p|data|grad|lr|beta\w*|x|z|img|images?|latents?|sample)\d?(?:$|\[)|\.data\b|\.grad\b|param/;

/** Brought to the host, or cut off, on the way. */
const CUT =
  /detach\(|\.item\(|\.data\b|\.cpu\(|numpy|float\(|no_grad|\.tolist\(|\.grad\b|stop_grad|\bsg\(|time\.|np\.|argmax|==|\b(?:mean|sum)\(\s*(?:weights?|labels?|masks?|targets?|rewards?)\b/;

/** On self or an object that was handed in, or a name that the loop of steps finds there. */
function lastsLonger(root: Expr, at: Node, facts: Facts): boolean {
  const base = root.kind === "Subscript" ? root.value : root;
  const fn = functionOf(at);
  if (base.kind === "Attribute") {
    const cls = selfAttribute(base) === null ? null : classOf(at);
    const called = fn?.kind === "FunctionDef" && fn.name === "__call__";
    return (cls !== null || base.value.kind === "Name") && (called || facts.hot(at) !== null);
  }
  if (base.kind !== "Name") return false;
  const [loop] = loopsAround(at);
  if (loop)
    return (
      facts.stepLoops.has(loop) && isOlderThan(base, loop, facts) && !feedsBackward(base.id, loop, facts)
    );
  // In place, of what a function is handed: `ema[:] = …`, `ema.mul_(0.9).add_(x)`.
  const inPlace = at.kind === "Call" || (at.kind === "Assign" && at.targets[0]!.kind === "Subscript");
  const given = facts.file.scopes.lookup(base)?.definitions.every(({ how }) => how === "param") ?? false;
  return (
    inPlace &&
    given &&
    fn?.kind === "FunctionDef" &&
    classOf(fn) !== null &&
    !/optim|ema_model/i.test(classOf(fn)!.name)
  );
}

/** `loss = loss + …; loss.backward()` */
function feedsBackward(id: string, loop: Node, facts: Facts): boolean {
  return facts.backwards.some(
    ({ call, loss }) => contains(loop, call) && loss !== null && namesIn(loss).some((name) => name.id === id),
  );
}

/** Something in it is a tensor that a network, or who calls this, may have computed with a graph. */
function isOfTensors(added: Expr, facts: Facts): boolean {
  const { what, graph, device } = facts.value(added);
  return (what === "tensor" || what === "output") && graph !== "no" && device !== "cpu";
}

/** What it is computed of in words, also through `self.share = …` in the same function. */
function saidWithOwn(added: Expr, at: Node, file: PythonFile): string {
  // `z[y == c]` picks rows.
  const said = saidOf(added, file).replaceAll(/\[[^[\]]*==[^[\]]*\]/g, "[]");
  const fn = functionOf(at);
  const code = fn && /\bself\./.test(said) ? file.codeOf(fn) : "";
  const own = [...said.matchAll(/\bself\.(\w+)/g)].flatMap(([, name]) =>
    [...code.matchAll(new RegExp(`self\\.${name} = (.*)`, "g"))].flatMap(([, value]) =>
      value!.includes(`self.${name}`) ? [] : [value!],
    ),
  );
  return [said, ...own].join("\n");
}

/** `parts["told"]` of a dictionary that this file fills with what is cut off, or counted. */
function isEntryCut(added: Expr, file: PythonFile): boolean {
  if (/["'](?:hits?|correct|right|acc\w*|count)["']/.test(file.textOf(added))) return true;
  return [...file.textOf(added).matchAll(/\[["'](\w+)["']\]/g)].some(([, key]) =>
    new RegExp(
      `["']${key}["']\\]?\\s*[:=][^,\\n]*(?:detach|item\\(|\\.data\\b|float\\(|cpu\\(|argmax|==)`,
    ).test(file.text),
  );
}

/** `loss = … + self.mean`: the loss may want its graph. */
function isInLoss(root: Expr, at: Node, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(at);
  if (!fn || root.kind === "Subscript") return false;
  const own = file.textOf(root).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const reads = new RegExp(`^(?=.*loss\\w* (?:[-+*]?= ))(?=.*= .*${own}\\b(?!\\.(?:detach|item|data)))`, "m");
  return reads.test(file.codeOf(fn).replace(file.textOf(at), ""));
}

/** `self.mean = self.mean.detach()`, `self.mean.detach_()` beside it. */
function isCutOff(root: Expr, at: Node, file: PythonFile): boolean {
  const fn = functionOf(at) ?? ancestors(at).at(-1)!;
  const own = file.textOf(root).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${own}\\.detach_\\(|${own}\\s*=\\s*${own}\\.(?:detach|data)\\b`).test(file.codeOf(fn));
}
