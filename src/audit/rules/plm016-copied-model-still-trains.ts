import { keyword, positional } from "../../python/file.ts";
import { classOf, functionOf, lastWord, namesIn, statementOf } from "../../python/nodes.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Arg, Assign, Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { isNetwork } from "../facts/networks.ts";
import { callsOf } from "../facts/returns.ts";
import type { Rule } from "../rule.ts";

/** What a copy is called that plays a part in training. */
const PART =
  /ema|ref|teacher|target|avg|average|old|frozen|anchor|momentum|initial|init_|orig|prev|backup|shadow|slow|best|snapshot|_k$|_0$|base_/i;

export const rule: Rule = {
  meta: {
    code: "PLM016",
    name: "copied-model-still-trains",
    summary:
      "A copy of the model, for averaging or reference, stays on the device, or still requires gradients",
    severity: "note",
    fix: "none",
    patterns: [16],
  },
  *check(facts) {
    const { file } = facts;
    if (!facts.accelerator) return;
    for (const call of file.callsNamed("AveragedModel"))
      if (
        file.dotted(call.func) === "torch.optim.swa_utils.AveragedModel" &&
        !/["']cpu["']/.test(file.textOf(call))
      )
        yield {
          at: call,
          message:
            'The average is a whole second model on the device; with `device="cpu"` it is kept on the host',
        };
    if (file.callsNamed("deepcopy").length === 0) return;
    for (const call of file.callsNamed("deepcopy")) {
      if (file.dotted(call.func) !== "copy.deepcopy") continue;
      const source = unwrapped(positional(call, 0));
      const statement = statementOf(call);
      if (
        !source ||
        (statement?.kind !== "Assign" && statement?.kind !== "Return") ||
        !statement.value ||
        !made(statement.value).includes(call) ||
        (statement.kind === "Assign" && statement.targets.length !== 1)
      )
        continue;
      // `def averaged_copy(net): return deepcopy(net)` says what it is for.
      const fn = statement.kind === "Return" ? functionOf(statement) : null;
      const copy =
        statement.kind === "Assign"
          ? nameOf(call, statement, file)
          : fn?.kind === "FunctionDef"
            ? fn.name
            : "";
      if (!isNetwork(source, facts) && !isRunOverWeights(source, copy, file)) continue;
      // Only a copy that plays a part in training: an average, a teacher, a reference.
      const owner = classOf(call)?.name ?? "";
      if (
        !PART.test(copy) &&
        !(copy.startsWith("self.") && PART.test(owner)) &&
        !isMovedAfter(copy, file.textOf(source), file)
      )
        continue;
      const escaped = copy.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const frozen =
        /requires_grad_\(/.test(file.textOf(statement.value)) ||
        new RegExp(
          `${escaped}\\.(?:requires_grad_|eval\\(\\)\\.requires_grad_)|in ${escaped}\\.(?:named_)?parameters\\(|(?:requires_grad|freeze)\\w*\\(\\s*${escaped}\\b`,
        ).test(file.code);
      // Kept on the host it costs the device nothing.
      if (frozen && /\.cpu\(|["']cpu["']/.test(file.textOf(statement.value))) continue;
      yield {
        at: call,
        message: frozen
          ? `\`${copy}\` is a whole second model on the device: an average can be kept on the host, and a reference of an adapter is the base with the adapter switched off`
          : `\`${copy}\` is a whole second model on the device, and its parameters require gradients like the first's: freeze it, or keep it on the host or as an adapter switched off`,
      };
    }
  },
};

/** `self.shadow = deepcopy(module)` of a parameter, and `self.shadow.parameters()` somewhere. */
function isRunOverWeights(source: Expr, copy: string, file: PythonFile): boolean {
  return (
    source.kind === "Name" &&
    copy.startsWith("self.") &&
    file.scopes.reaching(source).every(({ how }) => how === "param") &&
    [".parameters()", ".named_parameters()", ".state_dict()"].some((asked) =>
      file.text.includes(copy + asked),
    )
  );
}

/** What the helper of another file is called that moves one network's weights towards another's. */
const MOVES = /(?:^|_)(?:ema|accumulate|moving|polyak|soft_update|momentum_update)(?:_|$)/i;

/** Whatever it is called, its weights are moved towards those that it is a copy of: by a loop over both, or a helper that is given both. */
function isMovedAfter(copy: string, source: string, file: PythonFile): boolean {
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
          const [to, from] = [moved, towards].map((param) => paramGiven(call, param, fn));
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
  for (const statement of file.all("Assign"))
    for (const target of statement.targets)
      if (target.kind === "Attribute" && target.attr === "data")
        add(statement, target, [statement.value], false);
  return found;
}

function networksIn(expr: Expr, file: PythonFile): readonly Expr[] {
  return namesIn(expr).flatMap((name) => networkOf(name, file) ?? []);
}

/** What a call gives for a parameter. */
function paramGiven(call: Call, param: Expr, { params }: FunctionDef): Expr | null {
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

/** `model` of `accelerator.unwrap_model(model)`, and of `model.module if hasattr(model, "module") else model`. */
function unwrapped(expr: Expr | null): Expr | null {
  if (expr?.kind === "IfExp") {
    const [inside, outside] = [expr.body, expr.orelse].map((one) =>
      one.kind === "Attribute" && one.attr === "module" ? one.value : one,
    );
    return inside?.kind === "Name" && outside?.kind === "Name" && inside.id === outside.id ? outside : expr;
  }
  return expr?.kind === "Call" && /^(?:unwrap_model|unwrap|de_parallel)$/.test(lastWord(expr.func))
    ? positional(expr, 0)
    : expr;
}

/** What the copy is called: its variable, or its key among others. */
function nameOf(call: Call, statement: Assign, file: PythonFile): string {
  const { value } = statement;
  const at = value.kind === "Dict" ? value.values.findIndex((one) => bare(one) === call) : -1;
  const key = value.kind === "Dict" && at >= 0 ? value.keys[at] : null;
  return key?.kind === "Str" && key.value !== null ? key.value : file.textOf(statement.targets[0]!);
}

/** One copy, or several: `[deepcopy(model) for _ in range(2)]`, `ModuleList([…])`; or what is made of one: `EMA(deepcopy(model), 0.99)`. */
function made(expr: Expr): readonly Expr[] {
  const at = bare(expr);
  if (at.kind === "Comp") return [bare(at.element)];
  if (at.kind === "List" || at.kind === "Tuple") return at.items.map(bare);
  if (at.kind === "Dict") return at.values.map(bare);
  if (at.kind === "Call" && at.args.length > 0 && at.func.kind !== "Call")
    return [at, ...made(at.args[0]!.value)];
  return [at];
}

/** `deepcopy(model).to(device).eval()` → the copy. */
function bare(expr: Expr): Expr {
  let at = expr;
  while (
    at.kind === "Call" &&
    at.func.kind === "Attribute" &&
    /^(?:to|cpu|cuda|eval|train|half|bfloat16|requires_grad_)$/.test(at.func.attr)
  )
    at = at.func.value;
  return at;
}
