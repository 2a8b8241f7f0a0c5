import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, functionOf, namesIn } from "../../python/nodes.ts";
import type { Arg, Call, Expr, FunctionDef, Node, Param } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { callsOf, paramGiven } from "./returns.ts";
import { assignsOfKind } from "./assigns.ts";

/** What the helper of another file is called that moves one network's weights towards another's. */
const MOVES = /(?:^|_)(?:ema|accumulate|moving|polyak|soft_update|momentum_update)(?:_|$)/i;

/** Whatever it is called, its weights are moved towards those that it is a copy of: by a loop over both, or a helper that is given both. */
export function isMovedAfter(copy: string, source: string, file: PythonFile): boolean {
  const isOneOf = (args: readonly Arg[], network: string): boolean =>
    args.some(({ value }) => networkText(value, file) === network);
  return (
    file.calls.matching(MOVES).some(({ args }) => isOneOf(args, copy) && isOneOf(args, source)) ||
    file.once(moves).some(({ at, moved, towards }) => {
      if (networkText(moved, file) === copy && networkText(towards, file) === source) return true;
      // `def follow(slow, fast): …` with `follow(copied, net)`.
      const fn = functionOf(at);
      return (
        fn?.kind === "FunctionDef" &&
        callsOf(fn, file).some((call) => {
          const [to, from] = [moved, towards].map((param) => valueFor(call, param, fn));
          return to && from && networkText(to, file) === copy && networkText(from, file) === source;
        })
      );
    })
  );
}

interface Move {
  readonly at: Node;
  readonly moved: Expr;
  readonly towards: Expr;
}

/** Where the weights of one network are mixed with another's: `s.lerp_(p, 0.01)`, `s.data = d * s.data + (1 - d) * p.data`. */
function moves(file: PythonFile): readonly Move[] {
  const found: Move[] = [];
  const add = (at: Node, weight: Expr, from: readonly Expr[], keepsOld: boolean): void => {
    const moved = networkOf(weight, file);
    if (!moved) return;
    const others = from.flatMap((one) => networksIn(one, file));
    const isMoved = (one: Expr): boolean => file.textOf(one) === file.textOf(moved);
    const towards = others.find((one) => !isMoved(one));
    // What takes on the other's weights as they are may be what is trained from there.
    if (towards && (keepsOld || others.some(isMoved))) found.push({ at, moved, towards });
  };
  for (const call of file.callsNamed("lerp_", "add_", "sub_", "copy_"))
    if (call.func.kind === "Attribute")
      add(
        call,
        call.func.value,
        call.args.map(({ value }) => value),
        call.func.attr !== "copy_",
      );
  for (const statement of assignsOfKind("Attribute", file))
    for (const target of statement.targets)
      if (target.kind === "Attribute" && target.attr === "data")
        add(statement, target, [statement.value], false);
  return found;
}

function networksIn(expr: Expr, file: PythonFile): readonly Expr[] {
  return namesIn(expr).flatMap((name) => networkOf(name, file) ?? []);
}

/** What a call gives for a parameter. */
function valueFor(call: Call, param: Expr, { params }: FunctionDef): Expr | null {
  const at = param.kind === "Name" ? params.findIndex(({ name }) => name === param.id) : -1;
  if (at < 0) return null;
  const shift = params[0]?.name === "self" ? 1 : 0;
  return keyword(call, params[at]!.name)?.value ?? positional(call, at - shift);
}

/** `net` of `net`, and of `net.module`. */
function networkText(expr: Expr, file: PythonFile): string {
  return file.textOf(expr.kind === "Attribute" && expr.attr === "module" ? expr.value : expr);
}

const WEIGHTS = /^(?:(?:named_)?(?:parameters|buffers)|state_dict)$/;

/** The network whose weights these are: `net` of `p.data` in `for p in net.parameters()`, of `weights[k]` with `weights = dict(net.named_parameters())`. */
function networkOf(expr: Expr, file: PythonFile, depth = 0): Expr | null {
  if (depth > 12) return null;
  const again = (inner: Expr | null | undefined): Expr | null =>
    inner ? networkOf(inner, file, depth + 1) : null;
  if (expr.kind === "Attribute" || expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "Call") {
    const { func } = expr;
    if (func.kind !== "Attribute") return again(positional(expr, 0));
    return WEIGHTS.test(func.attr) ? func.value : again(func.value);
  }
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (!one || more.length > 0) return null;
  if (one.how !== "iterate") return one.how === "assign" ? again(one.value) : null;
  const pairs =
    one.value?.kind === "Call" && file.dotted(one.value.func) === "builtins.zip" ? one.value : null;
  return again(pairs ? pairs.args[placeOf(one.node)]?.value : one.value);
}

/** 1 of `q` in `for p, q in …`, and in `for (name, p), (name, q) in …`. */
function placeOf(target: Node): number {
  let at = target;
  while (at.parent?.kind === "Tuple" && at.parent.parent?.kind === "Tuple") at = at.parent;
  return at.parent?.kind === "Tuple" ? at.parent.items.indexOf(at as Expr) : 0;
}

/** Run in the step without gradients, or frozen before: it answers, and does not learn. */
export function isAskedInStep(copy: string, frozen: boolean, facts: Facts): boolean {
  const { file } = facts;
  const asks = (network: string, within: Node | null): boolean =>
    file
      .callsNamed(wordOf(network), "forward")
      .some(
        (run) =>
          isRunOf(run, network, file) &&
          (within === null || ancestors(run).includes(within)) &&
          facts.hot(run) !== null &&
          (frozen || facts.gradMode(run) === "off"),
      );
  // `train(net, guide)`, which runs it there.
  return asks(copy, null) || handedAs(copy, file).some(({ name, parent }) => asks(name, parent));
}

/** Weights that others are held against: `(p - q.detach()).pow(2)` over both, of a copy that is run nowhere. */
export function isHeldAgainst(copy: string, source: string, file: PythonFile): boolean {
  const handed = handedAs(copy, file);
  const runs = (network: string): boolean =>
    file.callsNamed(wordOf(network), "forward").some((run) => isRunOf(run, network, file));
  if (runs(copy) || handed.some(({ name }) => runs(name))) return false;
  return file.once(differences).some(({ at, one, other }) => {
    if (isPair(one, other, copy, source, file)) return true;
    const fn = functionOf(at);
    return (
      fn?.kind === "FunctionDef" &&
      callsOf(fn, file).some((call) => {
        const [left, right] = [one, other].map((param) => valueFor(call, param, fn));
        return left && right && isPair(left, right, copy, source, file);
      })
    );
  });
}

function isPair(one: Expr, other: Expr, copy: string, source: string, file: PythonFile): boolean {
  const [left, right] = [networkText(one, file), networkText(other, file)];
  return (left === copy && right === source) || (left === source && right === copy);
}

interface Difference {
  readonly at: Node;
  readonly one: Expr;
  readonly other: Expr;
}

/** Where the weights of two networks are subtracted; what becomes of it is a loss, or a distance to look at. */
function differences(file: PythonFile): readonly Difference[] {
  if (!file.mentions("parameters()") && !file.mentions("state_dict()")) return [];
  return file.all("Binary").flatMap((at) => {
    const one = at.op === "-" ? networkOf(at.left, file) : null;
    const other = one && networkOf(at.right, file);
    return one && other ? [{ at, one, other }] : [];
  });
}

/** `net(x)`, `net.forward(x)`, `net.module(x)` */
function isRunOf({ func }: Call, network: string, file: PythonFile): boolean {
  const run = func.kind === "Attribute" && func.attr === "forward" ? func.value : func;
  return networkText(run, file) === network;
}

function wordOf(network: string): string {
  return network.slice(network.lastIndexOf(".") + 1);
}

/** The functions of this file that are given it, and what they call it. */
function handedAs(network: string, file: PythonFile): readonly Param[] {
  if (!/^\w+$/.test(network)) return [];
  return file
    .all("Arg")
    .flatMap((arg) =>
      arg.value.kind === "Name" && arg.value.id === network && arg.parent?.kind === "Call"
        ? (paramGiven(arg.parent, arg, file) ?? [])
        : [],
    );
}
