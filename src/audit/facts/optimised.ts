import type { PythonFile } from "../../python/file.ts";
import { contains, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";
import { WRAPPERS } from "./constructors.ts";
import type { Facts } from "./facts.ts";
import { isOtherBranch } from "./guards.ts";
import { moved } from "./naming.ts";
import { callTarget } from "./summary.ts";

/** `net.features[:16].to(device)` around a call or a name. */
export function outermost(expr: Expr): Expr {
  let at = expr;
  for (;;) {
    const up: Node | null = at.parent;
    if ((up?.kind === "Attribute" || up?.kind === "Subscript") && up.value === at) at = up;
    else if (up?.kind === "Call" && up.func === at && at.kind === "Attribute") at = up;
    else return at;
  }
}

/** Layers of torch's with nothing to learn. */
const PARAMETERLESS =
  /^torch\.nn\.(?:\w*Loss|(?:Log)?Softmax|Softplus|Sigmoid|Tanh|Identity|Flatten|Upsample|CosineSimilarity|PairwiseDistance|\w*Pool\w*|\w*LU|Dropout\w*)$/;

/** Whatever it is called: `dist_fn = nn.MSELoss().to(device)`. */
export function isParameterless(run: Expr, file: PythonFile): boolean {
  const has = (made: Call): boolean => PARAMETERLESS.test(rootName(made, file));
  if (run.kind !== "Name") return isOnlyMadeBy(run, file, has);
  const definitions = file.scopes.lookup(run)?.definitions ?? [];
  return definitions.length > 0 && definitions.every(({ value }) => value?.kind === "Call" && has(value));
}

/** `dist = ChamferDistance()` is a module too: what is not used or named as a network may have nothing to learn. */
export function hasParameters(run: Expr, facts: Facts): boolean {
  // Of a whole that is optimised in part, `self(x)`, the rest may be losses and tables.
  if (run.kind !== "Name" || run.id === "self") return run.kind !== "Name";
  if (facts.networks.is(run) || facts.partsOf(run).length > 0) return true;
  const made = facts.file.scopes.lookup(run)?.definitions[0]?.value;
  return (
    made?.kind === "Call" &&
    /^(?:torch|torchvision|transformers|diffusers|timm)\./.test(rootName(made, facts.file))
  );
}

/** `torch.nn.Linear` of `nn.Linear(8, 8).to(device)`. */
function rootName(call: Call, file: PythonFile): string {
  const made = moved(call);
  return made.kind === "Call" ? (file.dotted(made.func) ?? "") : "";
}

/** `net` of `torch.compile(net, mode="max-autotune")`. */
function compiledFrom(expr: Expr, file: PythonFile): Expr {
  const compiled = expr.kind === "Call" && file.dotted(expr.func) === "torch.compile" ? expr.args[0] : null;
  return compiled?.name === null && compiled.star === 0 ? compiled.value : expr;
}

/** `net` of `FullyShardedDataParallel(net)`, and of `shard(net)`, a function of this file that puts that around it and freezes nothing. */
function wrappedFrom(expr: Expr, file: PythonFile): Expr {
  const given = expr.kind === "Call" ? expr.args[0] : undefined;
  if (expr.kind !== "Call" || given?.name !== null || given.star !== 0) return compiledFrom(expr, file);
  if (WRAPPERS.test(file.dotted(expr.func) ?? "")) return given.value;
  const fn = file.functionNamed(callTarget(expr, file));
  const name = fn?.params[0]?.name;
  const wraps =
    fn?.parent?.kind === "Module" &&
    !/requires_grad|freeze|no_grad|inference_mode/.test(file.codeOf(fn)) &&
    file
      .all("Call")
      .some(
        ({ args: [inner], func }) =>
          contains(fn, func) &&
          inner?.value.kind === "Name" &&
          inner.value.id === name &&
          WRAPPERS.test(file.dotted(func) ?? ""),
      );
  return wraps ? given.value : compiledFrom(expr, file);
}

/** A parameter or variable of this very function: whether anything else trains it is seen here. */
export function isOwnNetwork(callee: Expr, fn: Node, optimised: readonly Expr[], facts: Facts): boolean {
  if (callee.kind !== "Name") return false;
  const { id } = callee;
  const definitions = facts.file.scopes.lookup(callee)?.definitions ?? [];
  // `net = net.to(device)` is what it was, and so are `net = torch.compile(net)` and `net = shard(net)`.
  const made = definitions.filter(({ how, value }) => {
    const from = how === "assign" && value ? moved(wrappedFrom(value, facts.file)) : null;
    return from === value || from?.kind !== "Name" || from.id !== id;
  });
  // `if small: net = resnet18()`, `else: net = resnet50()`: one of them.
  const mine =
    made.length > 0 &&
    made.every(
      ({ node }, at) =>
        contains(fn, node) && made.slice(0, at).every((above) => isOtherBranch(above.node, node)),
    );
  // A driver holds the optimizer of what it wrapped: `engine, *_ = deepspeed.initialize(…)`.
  const isDriver = (value: Expr): boolean =>
    value.kind === "Call" && /\b(?:initialize|prepare|setup)$/.test(facts.file.textOf(value.func));
  // `Vgg16(requires_grad=False)`
  const isMadeFrozen = (value: Expr): boolean =>
    /requires_grad(?!=True)|freeze|frozen/i.test(facts.file.textOf(value));
  if (!mine || made.some(({ value }) => value && (isDriver(value) || isMadeFrozen(value)))) return false;
  // Its parameters named anywhere else: another optimizer may have them.
  return (
    !optimised.some((network) => made.some((one) => sharesParameters(callee, one, network, facts))) &&
    !facts.file
      .all("Attribute")
      .some(
        (node) =>
          /^(?:named_)?parameters$/.test(node.attr) &&
          node.value.kind === "Name" &&
          node.value.id === callee.id,
      )
  );
}

/** `deepcopy(net)`, `ControlNetModel.from_unet(unet)`: a copy has parameters of its own, and so has a network that begins with the weights of another. */
function copies({ func }: Call): boolean {
  return /^(?:deepcopy|from_(?:unet|transformer))$/.test(lastWord(func));
}

/** Made of the network that is optimised, or a part of it: `compiled = torch.compile(net)`, `net = Pair(body, head)`. */
function sharesParameters(callee: Name, made: Definition, optimised: Expr, { file }: Facts): boolean {
  let root = optimised;
  while (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
  if (root.kind !== "Name") return false;
  const { id } = root;
  let found = false;
  if (made.value)
    walk(made.value, (node) => {
      if (node.kind === "Call" && copies(node)) return false;
      if (node.kind === "Name" && node.id === id)
        found ||= node.parent?.kind !== "Attribute" || outermost(node) === made.value;
      return !found;
    });
  return (
    found ||
    (file.scopes.lookup(callee)?.definitions ?? [made]).some((one) =>
      file.scopes.uses(one).some((use) => {
        if (use.parent?.kind === "Attribute" || (use.parent?.kind === "Call" && use.parent.func === use))
          return false;
        if (use.parent?.kind === "Arg" && use.parent.parent?.kind === "Call" && copies(use.parent.parent))
          return false;
        const statement = statementOf(use);
        const [to] =
          statement?.kind === "Assign"
            ? statement.targets
            : statement?.kind === "ExprStmt"
              ? [statement.value]
              : [];
        // `net = Pair(body, head)`, `net.body = body`, `net.add_module("body", body)`
        const text = to === undefined ? "" : file.textOf(to);
        return text.startsWith(id) && !/^\w/.test(text.slice(id.length));
      }),
    )
  );
}

/** Classes of optimizers, by those who make some. */
const OPTIMIZERS =
  /^(?:torch\.optim\.(?!lr_scheduler)|bitsandbytes\.optim\.|apex\.optimizers\.|torch_optimizer\.|timm\.optim\.|lion_pytorch\.|prodigyopt\.|dadaptation\.|came_pytorch\.|schedulefree\.)(?:\w+\.)*[A-Z]\w*$|^transformers\.(?:optimization\.)?(?:AdamW|Adafactor)$/;

/** `AdamW(…)`, also by a name for the class that was chosen above: `kind = AdamW8bit if small else torch.optim.AdamW`. */
export function makesOptimizer({ func }: Call, file: PythonFile): boolean {
  if (isOptimizerClass(func, file)) return true;
  const chosen = func.kind === "Name" ? file.scopes.reaching(func) : [];
  return (
    chosen.length > 0 &&
    chosen.every(({ how, value }) => how === "assign" && value !== null && isOptimizerClass(value, file))
  );
}

function isOptimizerClass(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "IfExp") return isOptimizerClass(expr.body, file) && isOptimizerClass(expr.orelse, file);
  // `getattr(torch.optim, name)`
  if (expr.kind === "Call")
    return (
      file.dotted(expr.func) === "builtins.getattr" &&
      expr.args[0] !== undefined &&
      file.dotted(expr.args[0].value) === "torch.optim"
    );
  return OPTIMIZERS.test(file.dotted(expr) ?? "");
}

const CLASSES = /^[A-Z]/;

/** The optimizers of torch that a file makes. */
export function torchOptimizers(file: PythonFile): readonly Call[] {
  return file.calls
    .matching(CLASSES)
    .filter((call) => /^torch\.optim\.(?!lr_scheduler)(?:\w+\.)*[A-Z]/.test(file.dotted(call.func) ?? ""));
}

/** `net` of `net.parameters()`, of a list of those that require gradients, or of a name for either. */
export function parametersOf(expr: Expr | null, file: PythonFile, depth = 0): Expr | null {
  if (!expr || depth > 4) return null;
  const again = (inner: Expr | null): Expr | null => parametersOf(inner, file, depth + 1);
  if (expr.kind === "Name") return again(file.scopes.onlyValue(expr));
  // `[{"params": net.fc.parameters(), "lr": …}]`
  if (expr.kind === "List" && expr.items.length === 1 && expr.items[0]!.kind === "Dict") {
    const group = expr.items[0]! as Expr & { kind: "Dict" };
    const at = group.keys.findIndex((key) => key?.kind === "Str" && key.value === "params");
    return at < 0 ? null : again(group.values[at]!);
  }
  if (expr.kind === "Comp")
    return expr.clauses.length === 1 && expr.value === null ? again(expr.clauses[0]!.iter) : null;
  if (expr.kind !== "Call") return null;
  const name = file.dotted(expr.func);
  if (name === "builtins.list") return again(expr.args[0]?.value ?? null);
  if (name === "builtins.filter") return again(expr.args[1]?.value ?? null);
  return expr.func.kind === "Attribute" && expr.func.attr === "parameters" ? expr.func.value : null;
}
