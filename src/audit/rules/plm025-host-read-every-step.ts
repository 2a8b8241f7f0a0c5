import { argument, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, If, Name, Node } from "../../python/tree.ts";
import { ancestors, contains, lastWord, statementOf } from "../../python/nodes.ts";
import { everyUpdate, ownUpdate } from "../facts/updates.ts";
import type { Facts, Hot } from "../facts/facts.ts";
import type { Fix, Rule } from "../rule.ts";
import { isAction } from "../facts/actions.ts";
import { isEcho } from "../facts/echoes.ts";
import { isReachedFromForward } from "../facts/heat.ts";
import { isReadOffNetwork } from "../facts/networks.ts";
import { callTarget } from "../facts/summary.ts";
import { decidesStep } from "../facts/training.ts";

const READS = new Set(["item", "tolist", "cpu"]);

export const rule: Rule = {
  meta: {
    code: "PLM025",
    name: "host-read-every-step",
    summary: "A device tensor is read by the host on every step, which waits for the device each time",
    severity: "warning",
    fix: "unsafe",
    patterns: [25],
    onDevice: "file",
    hotOnly: true,
  },
  *check(facts) {
    for (const call of facts.file.callsNamed(...READS, "to", "float", "int")) {
      if (!facts.mayBeHot(call)) continue;
      const every = facts.everyStep(call) ?? (everyUpdate(call, facts) ? facts.hot(call) : null);
      const hot = every ?? (ownUpdate(call, facts) ? facts.hot(call) : null);
      // Where it is moved to is asked last: forwards are full of `.to(x.dtype)`.
      if (!hot || (isMove(call) && offloads(hot) && !(facts.guesses && isForHost(call)))) continue;
      const source = readTensor(call, facts);
      if (!source) continue;
      const known = facts.onAccelerator(source);
      if (!known && !isCutOff(source, facts) && !isReadOffNetwork(call, facts) && !isOfStep(call, facts))
        continue;
      if (isAction(call, facts.file) || (facts.guesses && isBrought(source, facts))) continue;
      const fix = detachInstead(call, source, facts);
      const echo = isEcho(call, facts);
      const around = statementOf(call);
      const needed =
        (around?.kind === "If" &&
          contains(around.test, call) &&
          (decidesStep(around, facts.backwards) || skipsStep(around, facts))) ||
        leavesProcess(call, facts.file);
      const when = every ? "on every step" : "on every update of this branch";
      const what = `\`${short(facts.file.textOf(call))}\` ${hot.why.startsWith("in ") ? when : `${when} (${hot.why})`}`;
      yield {
        at: call,
        ...(echo || !known || !every || needed ? { severity: "note" as const } : {}),
        message: echo
          ? `${what} is one more round trip to the device, after a read that has waited for it`
          : `${what} makes the host wait until the device has finished all queued work`,
        ...(fix ? { fix } : {}),
      };
    }
  },
};

/** `scores.detach().cpu()` of who knows where: what has a graph to be cut from was computed by the step. */
function isCutOff(source: Expr, facts: Facts): boolean {
  return (
    facts.accelerator &&
    source.kind === "Call" &&
    source.func.kind === "Attribute" &&
    source.func.attr === "detach" &&
    facts.value(source).device === "unknown"
  );
}

/** `sock.send(pickle.dumps(hidden.cpu().numpy()))`, `payload = {"hidden": hidden.cpu()}` and that below: another program goes on with it. */
function leavesProcess(call: Call, file: PythonFile): boolean {
  const isIn = (node: Node): boolean =>
    ancestors(node).some((at) => at.kind === "Call" && SENDS.test(file.textOf(at.func)));
  if (isIn(call)) return true;
  const around = statementOf(call);
  const target = around?.kind === "Assign" ? around.targets[0] : undefined;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made !== null && file.scopes.uses(made).some(isIn);
}

const SENDS = /\.send(?:all|to)?$|^c?_?pickle\.dumps$/i;

/**
 * `losses["loss"].item()`, of what a function that takes the whole step handed back: no number of Python's has an `item()`, and
 * a loss is where the training runs.
 */
function isOfStep({ func }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || func.attr !== "item" || !facts.accelerator) return false;
  const { value } = func;
  const entry = value.kind === "Subscript" && value.index.kind === "Str" ? value.index.value : null;
  const said = entry ?? (value.kind === "Attribute" ? value.attr : value.kind === "Name" ? value.id : "");
  const from = value.kind === "Subscript" || value.kind === "Attribute" ? value.value : value;
  return (
    from.kind === "Name" &&
    /loss/i.test(said) &&
    facts.value(value).what === "unknown" &&
    stepsBehind(from, facts).some((step) => takesStep(step, facts))
  );
}

/** `losses["loss"]` of what takes the step, and has read it. */
function isBrought(source: Expr, facts: Facts): boolean {
  const from = source.kind === "Subscript" ? source.value : source;
  return (
    from.kind === "Name" &&
    stepsBehind(from, facts).some(
      (step) => facts.callee(step)?.reachesBackward === true && !takesStep(step, facts),
    )
  );
}

/** A function of the tree that differentiates; one that has read the loss itself may hand back what it read. */
function takesStep(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = file.functionNamed(callTarget(call, file));
  return (
    facts.callee(call)?.reachesBackward === true &&
    !(fn && /\.(?:cpu|item|numpy|tolist)\(\)|\bfloat\(/.test(file.codeOf(fn)))
  );
}

/** The calls that gave what a name stands for, also through another: `losses, report = result`. */
function stepsBehind(name: Name, facts: Facts, depth = 0): readonly Call[] {
  return facts.file.scopes.reaching(name).flatMap(({ how, value }) => {
    if (how !== "assign" && how !== "unpack") return [];
    if (value?.kind === "Name" && depth < 3) return stepsBehind(value, facts, depth + 1);
    return value?.kind === "Call" ? [value] : [];
  });
}

/** The tensor a call copies to the host; null for any other call. */
function readTensor(call: Call, facts: Facts): Expr | null {
  if (call.func.kind === "Attribute" && READS.has(call.func.attr) && call.args.length === 0)
    // A tensor on a device has no `numpy()`: whoever calls it computes on the host.
    return call.func.attr === "numpy" && facts.value(call.func.value).device === "network"
      ? null
      : call.func.value;
  if (
    call.func.kind === "Attribute" &&
    call.func.attr === "to" &&
    facts.file.dotted(call.func) === null &&
    facts.device(argument(call, "device", 0)) === "cpu" &&
    // Nobody waits for that, nor for what is in it.
    !isTrue(keyword(call, "non_blocking")?.value ?? null)
  )
    return call.func.value;
  if (
    call.func.kind === "Name" &&
    (call.func.id === "float" || call.func.id === "int") &&
    call.args.length === 1 &&
    facts.file.dotted(call.func)?.startsWith("builtins.") === true
  )
    return call.args[0]!.value;
  return null;
}

/** `if bad.item(): continue` above the backward. */
function skipsStep({ body, end, parent }: If, { backwards }: Facts): boolean {
  return (
    body.at(-1)?.kind === "Continue" &&
    backwards.some(({ call }) => call.start > end && parent !== null && contains(parent, call))
  );
}

function isMove(call: Call): boolean {
  return call.func.kind === "Attribute" && (call.func.attr === "cpu" || call.func.attr === "to");
}

/** A forward that moves a tensor to the host goes on with it there: to save memory, or because another process wants it. */
function offloads({ why, within }: Hot): boolean {
  return (within.kind === "FunctionDef" && within.name === "forward") || isReachedFromForward(why);
}

/** `hidden.detach().cpu().numpy()`, `self.seen.append(weights.data.cpu())`: nothing is computed on with it by the network. */
function isForHost(call: Call): boolean {
  for (const at of ancestors(call)) {
    if (at.kind === "Call" && at !== call && lastWord(at.func) === "append") return true;
    if (at.kind === "Attribute" && /^(?:numpy|tolist|item)$/.test(at.attr)) return true;
    if (!/^(?:Call|Attribute|Arg)$/.test(at.kind)) break;
  }
  let cut = false;
  for (let at: Expr | null = call; at; at = innerOf(at))
    cut ||= at.kind === "Attribute" && /^(?:detach|data)$/.test(at.attr);
  return cut;
}

/** `x.detach` of `x.detach()`, `x` of `x.detach`. */
const innerOf = (expr: Expr): Expr | null =>
  expr.kind === "Call" ? expr.func : expr.kind === "Attribute" ? expr.value : null;

/** `total += loss.item()` can sum on the device instead, where the host reads the sum less often than that. */
function detachInstead(call: Call, source: Expr, facts: Facts): Fix | null {
  const statement = statementOf(call);
  if (
    statement?.kind !== "AugAssign" ||
    statement.op !== "+" ||
    statement.target.kind !== "Name" ||
    call.func.kind !== "Attribute" ||
    call.func.attr !== "item"
  )
    return null;
  if (statement.value !== call || facts.value(source).graph === "unknown") return null;
  const { scopes } = facts.file;
  const reads = new Set(
    (scopes.lookup(statement.target)?.definitions ?? []).flatMap((one) => scopes.uses(one)),
  );
  if ([...reads].some((read) => facts.everyStep(read))) return null;
  const { value: of, attrStart } = call.func;
  const isCutOff = of.kind === "Call" && of.func.kind === "Attribute" && of.func.attr === "detach";
  return {
    grade: "unsafe",
    title: "Sum on the device, and read the sum where it is used",
    edits: [
      isCutOff
        ? { start: of.end, end: call.end, text: "" }
        : { start: attrStart, end: call.end, text: "detach()" },
      ...[...reads]
        .filter((read) => !isNumber(read.parent))
        .map(({ start, end, id }) => ({ start, end, text: `float(${id})` })),
    ],
  };
}

/** `float(total)` */
function isNumber(node: Node | null): boolean {
  return node?.kind === "Call" && node.func.kind === "Name" && node.func.id === "float";
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 40 ? `${line.slice(0, 37)}…` : line;
}
