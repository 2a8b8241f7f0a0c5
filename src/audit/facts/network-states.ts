import type { PythonFile } from "../../python/file.ts";
import { blockOf, contains, functionOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { derivesFrom } from "./backwarded.ts";
import { STATE, handedOn, partsOf } from "./carried-states.ts";
import type { Facts } from "./facts.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";
import type { Backward, Loop } from "./training.ts";

/** A state that a network brings from one turn of a loop into the next, with its graph. */
export interface NetworkState {
  /** The run that it is brought into. */
  readonly at: Call;
  readonly loop: Loop;
  readonly net: string;
  readonly state: string;
}

/**
 * What a backward in the innermost loop goes through of the turns before: `net.hidden = net.init_hidden()`, and over the
 * chunks of a sequence `net(chunk)`; or `out = net(chunk, hidden)`, and `hidden = net.last_hidden` is read off it.
 */
export function* statesOnNetworks(backward: Call, facts: Facts): Generator<NetworkState> {
  const { file } = facts;
  const whole = facts.backwards.find(({ call }) => call === backward) ?? { call: backward, loss: null };
  const [loop] = loopsAround(backward);
  if (!loop) return;
  for (const at of file.all("Call")) {
    if (!contains(loop, at) || !loopsAround(at).includes(loop) || at.start > backward.start) continue;
    if (facts.gradMode(at) === "off") continue;
    const ran = ranHere(at, whole, facts);
    if (!ran) continue;
    const net = file.textOf(ran);
    const state = handedOff(at, net, loop, file) ?? begunOn(net, loop, file);
    if (state !== null) yield { at, loop, net, state };
  }
}

/** `net` of `net(x)`, and of `a, b = net.scores(x)` where what that gives is differentiated. */
function ranHere(call: Call, { loss }: Backward, facts: Facts): Expr | null {
  const { func } = call;
  if (isNetwork(func, facts)) return func;
  const net = func.kind === "Attribute" && facts.networks.is(func.value) ? func.value : null;
  const statement = statementOf(call);
  if (!net || !loss || statement?.kind !== "Assign" || statement.value !== call) return null;
  const made = statement.targets
    .flatMap(partsOf)
    .flatMap((part) => (part.kind === "Name" ? [facts.file.scopes.definitionAt(part)] : []))
    .filter((one) => one !== null);
  return derivesFrom(loss, new Set(made), facts) ? net : null;
}

/** The state that a call is given, where the loop reads it off the network for the next turn. */
function handedOff(call: Call, net: string, loop: Node, file: PythonFile): string | null {
  for (const { value } of call.args) {
    const part = handedOn(value);
    const all = part.kind === "Name" ? file.scopes.reaching(part) : [];
    const isOff = ({ how, value: from, node }: Definition): boolean =>
      how === "assign" && from !== null && contains(loop, node) && isReadOff(from, net, file);
    if (all.some(isOff) && all.some(({ node }) => !contains(loop, node))) return (part as Name).id;
  }
  return null;
}

/** `net.rnn.last_hidden`, `net.get_state()` */
function isReadOff(expr: Expr, net: string, file: PythonFile): boolean {
  const read = expr.kind === "Call" && expr.args.length === 0 ? expr.func : expr;
  return (
    read.kind === "Attribute" &&
    /state|hidden|memory|(?:^|_)[hc](?:_|$)/.test(read.attr) &&
    !/detach|state_dict/.test(read.attr) &&
    file.textOf(read).startsWith(`${net}.`)
  );
}

/**
 * The state of a network that is begun before the loop, and neither begun anew nor cut off in it. What another loop around
 * it runs below, as `net.clear_memory()` at the end of a batch, is before it in the next turn.
 */
function begunOn(net: string, loop: Loop, file: PythonFile): string | null {
  const escaped = net.replaceAll(/\W/g, String.raw`\$&`);
  // `net.hidden = …`, `net.detach_hidden()`, `net.hidden[0].detach()`, `for one in net.hidden: one.detach_()`
  const cuts = new RegExp(
    `\\b${escaped}\\.(?:\\w+\\.)*(?:\\w*(?:hidden|states?|memory)\\w*(?:\\[[^\\]]*\\])* *=(?!=)|\\w*(?:detach|repackage|reset|init)\\w*\\()|(?:detach|repackage)\\w*\\([^)\\n]*\\b${escaped}\\b|\\b${escaped}\\.[^\\n]*\\.detach\\(|\\.detach_\\(`,
  );
  if (cuts.test(file.codeOf(loop))) return null;
  const again = loop.parent?.kind === "For" || loop.parent?.kind === "While";
  // `if kind == "LSTM": net.hidden = net.init_hidden()` begins it for those that have one.
  const around = (blockOf(loop) ?? []).flatMap((one) => (one.kind === "If" ? [one, ...one.body] : [one]));
  for (const one of around.toReversed()) {
    if (one === loop || (one.start > loop.start && !again)) continue;
    const begun =
      one.kind === "Assign"
        ? one.targets[0]!
        : one.kind === "ExprStmt" && one.value.kind === "Call"
          ? one.value.func
          : null;
    // `net.rnn.hidden = …` of a part of it, too.
    if (begun?.kind !== "Attribute" || !file.textOf(begun).startsWith(`${net}.`)) continue;
    if (one.kind === "Assign" ? STATE.test(begun.attr) : BEGINS.test(begun.attr))
      return one.kind === "Assign" ? file.textOf(begun) : net;
  }
  return isBegunBeside(net, loop, file) ? net : null;
}

/** `net.init_hidden(n)` before each batch of an evaluation in the same function: what a batch is to begin with, and here does not. */
function isBegunBeside(net: string, loop: Loop, file: PythonFile): boolean {
  return file
    .all("Call")
    .some(
      ({ func }) =>
        func.kind === "Attribute" &&
        file.textOf(func.value) === net &&
        /hidden|state|memory/.test(func.attr) &&
        BEGINS.test(func.attr) &&
        functionOf(func) === functionOf(loop) &&
        func.start > loop.end &&
        loopsAround(func).some((one) => one !== loop && !contains(one, loop)),
    );
}

const BEGINS = /^_*(?:reset|(?:init|reset|zero|clear)_?(?:\w+_)?(?:hidden|states?|memory)\w*)$/;
