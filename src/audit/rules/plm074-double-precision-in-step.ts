import { keyword, positional } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, isModuleRole, isSelf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { METHODS, last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";

const MESSAGE =
  "From here on this is float64: twice the memory of float32, and a small fraction of its speed on most devices; float32 will do, unless the digits are needed";

export const rule: Rule = {
  meta: {
    code: "PLM074",
    name: "double-precision-in-step",
    summary: "Device tensors are computed with in float64 on every step",
    severity: "note",
    fix: "none",
    patterns: [74],
  },
  *check(facts) {
    if (facts.guesses) {
      for (const finding of [...found(facts), ...likelyDoubles(facts)])
        if (!isSentToHost(finding.at as Node, facts) && !isOneLoss(finding.at as Node, facts)) yield finding;
    } else yield* found(facts);
  },
};

function* found(facts: Facts): Generator<Finding> {
  const told = facts.anyHot ? [...inStep(facts)] : [];
  yield* told;
  for (const finding of inLosses(facts)) if (!told.some(({ at }) => at === finding.at)) yield finding;
}

/** `loss.double()`: one number. */
function isOneLoss(at: Node, facts: Facts): boolean {
  const source = at.kind === "Call" ? widened(at, facts) : null;
  return source !== null && /(?:^|_)loss$/.test(lastWord(source));
}

/** `x.to(device="cpu", dtype=torch.float64)`: the host computes with it. */
function isSentToHost(at: Node, facts: Facts): boolean {
  if (at.kind !== "Call" || lastWord(at.func) !== "to") return false;
  const place = keyword(at, "device")?.value ?? positional(at, 0);
  return place !== null && facts.device(place) === "cpu";
}

/**
 * What is likely: a tensor is widened in what runs every step, in a network, or in what computes a loss by its name. What is only
 * counted, read on the host, or computed without gradients is not worth a word.
 */
function* likelyDoubles(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!["double", "Double", "float64"].some((word) => file.mentions(word))) return;
  if (facts.project.accelerated.size === 0 && facts.backwards.length === 0) return;
  const typed = file.calls.given(["dtype"]).filter((call) => isDouble(keyword(call, "dtype")!.value, facts));
  for (const call of new Set([...file.callsNamed("double", "to", "type"), ...typed])) {
    const fn = functionOf(call);
    const source = widened(call, facts);
    if (fn?.kind !== "FunctionDef" || !source || isCompared(source) || isAskedFor(call, facts)) continue;
    // `torch.ones(n, dtype=torch.float64)` makes one, where it is told.
    if (facts.file.dotted(call.func) !== null && !facts.onAccelerator(source)) continue;
    if (!isMaybeTensor(source, facts) || facts.gradMode(call) === "off" || isToHost(call)) continue;
    if (EVALUATES.test(fn.name) || !isLikelyStep(call, fn, facts)) continue;
    // Indices and one number more or less cost nothing.
    if (
      !/mask|idx|index|indices|count|time|step|lengths?\b|alpha|beta|sigma|schedule/i.test(
        file.textOf(source),
      )
    )
      yield { at: call, message: MESSAGE };
  }
}

function isLikelyStep(call: Call, fn: FunctionDef, facts: Facts): boolean {
  const cls = classOf(call);
  return (
    facts.everyStep(call) !== null ||
    LOSS.test(fn.name) ||
    // `def charbonnier(x)` in `losses.py`: what the losses there are made of.
    (fn.parent?.kind === "Module" && LOSS.test(last(facts.file.module))) ||
    (cls !== null && fn.name === "forward" && (LOSS.test(cls.name) || isModuleRole(facts.role(cls))))
  );
}

/** `x.double().cpu()`, `x.double().item()` */
function isToHost({ parent }: Expr): boolean {
  return (
    parent?.kind === "Attribute" && /^(?:cpu|numpy|item|tolist|sum|mean|float|half|to)$/.test(parent.attr)
  );
}

/** What a loss is given, by the name of that: it may be picked by a setting, or its step be another file's. */
function* inLosses(facts: Facts): Generator<Finding> {
  if (facts.project.accelerated.size === 0) return;
  // Few files speak of it: asked first.
  if (!["double", "Double", "float64"].some((word) => facts.file.mentions(word))) return;
  for (const call of facts.file.callsNamed("double", "to", "type")) {
    const source = widened(call, facts);
    const fn = source && !isCompared(source) ? functionOf(call) : null;
    const cls = fn ? classOf(call) : null;
    if (fn?.kind !== "FunctionDef") continue;
    const ofNetwork = cls !== null && isModuleRole(facts.role(cls));
    if (ofNetwork && isJudgedByNetwork(call, source!, fn, facts)) {
      yield { at: call, message: MESSAGE };
      continue;
    }
    const isLoss =
      LOSS.test(cls?.name ?? fn.name) ||
      (LOSS.test(fn.name) && !EVALUATES.test(fn.name)) ||
      (ofNetwork && JUDGES.test(fn.name)) ||
      (isHandedToTraining(fn, facts) && isGivenOnToLoss(call, facts));
    if (!isLoss || facts.gradMode(call) === "off" || facts.value(source!).device === "cpu") continue;
    if (isMadeOfGiven(source!, facts) && !isAskedFor(call, facts)) yield { at: call, message: MESSAGE };
  }
}

/** `train(net, loader, objective=distil)`: whoever trains is handed the function, also with some of what it takes. */
function isHandedToTraining(fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  const made = EVALUATES.test(fn.name) ? null : file.scopes.definitionAt(fn);
  if (!made) return false;
  return file.scopes.uses(made).some((use) => {
    const call = givenTo(use);
    const trains = call && /^functools\.partial$/.test(file.dotted(call.func) ?? "") ? givenTo(call) : call;
    return trains !== null && facts.callee(trains)?.reachesBackward === true;
  });
}

/** Not `metric=score`, which only tells. */
function givenTo({ parent }: Expr): Call | null {
  if (parent?.kind !== "Arg" || parent.star !== 0 || parent.parent?.kind !== "Call") return null;
  return EVALUATES.test(parent.name ?? "") ? null : parent.parent;
}

/** Handed to a loss of torch's here, as it is or by a name: `y, t = y.double(), t.double()`. */
function isGivenOnToLoss(call: Call, facts: Facts): boolean {
  return placesOf(call, facts).some((one) => isGivenToLoss(one, facts));
}

/** Where the call stands, and where what it is assigned to is read. */
function placesOf(call: Call, { file: { scopes } }: Facts): readonly Expr[] {
  const { parent } = call;
  const among = parent?.kind === "Tuple" && parent.parent?.kind === "Assign" ? parent : null;
  const assign = among ? among.parent : parent;
  const [whole] = assign?.kind === "Assign" ? assign.targets : [];
  const target =
    among && (whole?.kind === "Tuple" || whole?.kind === "List")
      ? whole.items.length === among.items.length
        ? whole.items[among.items.indexOf(call)]
        : undefined
      : among
        ? undefined
        : whole;
  const named = target?.kind === "Name" ? scopes.definitionAt(target) : null;
  return [call, ...(named ? scopes.uses(named) : [])];
}

/** `DiceLoss`, `SetCriterion`, `loss_boxes`, `compute_loss` */
const LOSS = /(?:loss|Loss|LOSS)(?:es)?(?:_|[A-Z]|$)|[Cc]riterion/;

const EVALUATES = /(?:^|_)(?:val|valid|validation|eval|evaluate|test|metric)/i;

/** Of what the function was given: `outputs["boxes"]`, `torch.cat(outputs).view(-1, 4)[mask]`, also by the name of that. */
function isMadeOfGiven(expr: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => isMadeOfGiven(inner, facts, depth + 1);
  if (expr.kind === "Name") {
    if (isSelf(expr)) return false;
    // `mean, spread = (t.double() for t in (mean, spread))` gives the names something else only then.
    const [one, ...more] = file.scopes
      .reaching(expr)
      .filter(({ value }) => value === null || !contains(value, expr));
    if (one && [one, ...more].every(({ how }) => how === "param")) return true;
    // Also `t` of `(t.double() for t in (mean, spread))`.
    return (
      (one?.how === "assign" || one?.how === "iterate") &&
      more.length === 0 &&
      one.value !== null &&
      again(one.value)
    );
  }
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.some(again);
  if (expr.kind !== "Call" || expr.func.kind !== "Attribute") return false;
  const name = file.dotted(expr.func);
  if (name !== null)
    return name.startsWith("torch.") && expr.args[0] !== undefined && again(expr.args[0].value);
  // What is sent to the host is widened there.
  return !/^(?:cpu|numpy|item|tolist)$/.test(expr.func.attr) && again(expr.func.value);
}

/** What a network's method is called that says how wrong it is: `bpr_loss`, `nll`, `log_likelihood`. */
const JUDGES = /loss$|(?:^|_)(?:nll|nelbo|elbo|likelihood|log_prob|kld?|energy|objective)(?:_|$)/i;

/**
 * In `def bpr_loss(self, users, items)` of a network, which a step calls; or `nll_of(self.forward(x).double())` in a method that nobody
 * is seen calling, of what the network itself has computed.
 */
function isJudgedByNetwork(call: Call, source: Expr, fn: FunctionDef, facts: Facts): boolean {
  if (isAskedFor(call, facts) || !isMaybeTensor(source, facts) || facts.gradMode(call) === "off")
    return false;
  if (/loss$/i.test(fn.name) && facts.hot(call)) return true;
  return facts.onAccelerator(source) && (JUDGES.test(fn.name) || isJudged(call, source, facts));
}

function* inStep(facts: Facts): Generator<Finding> {
  const typed = facts.file.calls
    .given(["dtype"])
    .some((call) => isDouble(keyword(call, "dtype")!.value, facts));
  // A sum kept in float64 on the device: every addition is one.
  for (const statement of typed ? facts.file.all("AugAssign") : []) {
    if (statement.target.kind !== "Name" || !facts.everyStep(statement)) continue;
    const made = facts.file.scopes
      .lookup(statement.target)
      ?.definitions.find((one) => one.how === "assign")?.value;
    if (made?.kind !== "Call" || !(facts.file.dotted(made.func) ?? "").startsWith("torch.")) continue;
    const dtype = keyword(made, "dtype");
    if (dtype && isDouble(dtype.value, facts) && facts.onAccelerator(made))
      yield { at: statement, message: MESSAGE };
  }
  // A whole network, or all that is made from here on.
  if (facts.backwards.length > 0 && facts.accelerator)
    for (const call of facts.file.callsNamed(
      "double",
      "to",
      "type",
      "set_default_dtype",
      "set_default_tensor_type",
    )) {
      const name = facts.file.dotted(call.func);
      const all =
        /^torch\.set_default_(?:dtype|tensor_type)$/.test(name ?? "") &&
        call.args.some(
          ({ value }) =>
            isDouble(value, facts) || (value.kind === "Str" && (value.value ?? "").endsWith("DoubleTensor")),
        );
      const source = all ? null : widened(call, facts);
      if (all || (source && isNetworkItself(source, facts))) yield { at: call, message: MESSAGE };
    }
  const widening = facts.file.callsNamed("double", "to", "type");
  for (const call of typed ? facts.file.all("Call") : widening) {
    const source = widened(call, facts);
    if (isMadeDouble(call, facts) && facts.everyStep(call) && !isAskedFor(call, facts))
      yield { at: call, message: MESSAGE };
    else if (
      source &&
      !isCompared(source) &&
      (facts.onAccelerator(source) || isJudged(call, source, facts) || isOnlyTensors(call, source, facts)) &&
      facts.everyStep(call) &&
      !isAskedFor(call, facts)
    )
      yield { at: call, message: MESSAGE };
  }
}

/** `x.double()` of who knows what: nothing but a tensor has it, and in a step it is where the others are. */
function isOnlyTensors({ func }: Call, source: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(source);
  return (
    (facts.accelerator || facts.project.accelerated.size > 0) &&
    func.kind === "Attribute" &&
    func.attr === "double" &&
    what === "unknown" &&
    device === "unknown" &&
    (facts.stepLoop(source) !== null || isOfForward(source, facts))
  );
}

/** What a function of the file's top, or a method of a network, is given by a forward that calls it, also in another shape. */
function isOfForward(source: Expr, facts: Facts): boolean {
  const around = functionOf(source)?.parent;
  return (
    isMadeOfGiven(source, facts) &&
    (around?.kind === "Module" || (around?.kind === "ClassDef" && isModuleRole(facts.role(around))))
  );
}

/** Nobody says that it is on the host, or no tensor. */
function isMaybeTensor(source: Expr, facts: Facts): boolean {
  const { device, what } = facts.value(source);
  return device !== "cpu" && /^(?:unknown|tensor|output)$/.test(what);
}

/** Handed to a loss as it is, in a step of a program that computes on a device. */
function isJudged(call: Call, source: Expr, facts: Facts): boolean {
  if (!facts.accelerator || !isMaybeTensor(source, facts)) return false;
  return isGivenOnToLoss(call, facts);
}

function isGivenToLoss({ parent }: Expr, facts: Facts): boolean {
  // `log_softmax(logits.double() / temperature, dim=-1)`
  if (parent?.kind === "Binary" && /^[/*]$/.test(parent.op)) return isGivenToLoss(parent, facts);
  const by = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null;
  if (!by) return false;
  const made = by.func.kind === "Call" ? facts.file.dotted(by.func.func) : facts.file.dotted(by.func);
  return (
    /^torch\.nn\.(?:functional\.(?:\w*(?:loss|entropy\w*|kl_div)|log_softmax)|\w+Loss)$/.test(made ?? "") ||
    facts.networks.isLoss(by.func) ||
    // `losses.mse(x, y)` of another file
    (!(made ?? "").startsWith("torch.") &&
      /(?:^|[._])(?:\w*mse|l1|l2|bce|nll|huber)$|_loss$/.test(made ?? ""))
  );
}

/** Under a setting that says just this: whoever sets it wants it. */
function isAskedFor(call: Call, { file }: Facts): boolean {
  return ancestors(call).some(
    (at) => at.kind === "If" && /double|float64|fp64|precision|_prec\b/i.test(file.textOf(at.test)),
  );
}

/** `(best == labels).double().sum()` counts: one number comes out. */
function isCompared(source: Expr): boolean {
  return (
    source.kind === "Compare" ||
    (source.kind === "Call" &&
      source.func.kind === "Attribute" &&
      /^(?:eq|ne|lt|gt|le|ge|isnan|isfinite|bool)$/.test(source.func.attr))
  );
}

function isNetworkItself(expr: Expr, facts: Facts): boolean {
  const made =
    expr.kind === "Call" && expr.func.kind === "Attribute" && facts.file.dotted(expr.func) === null
      ? expr.func.value
      : null;
  // `Net().to(device)`
  if (
    made &&
    expr.kind === "Call" &&
    /^(?:to|cuda|train)$/.test((expr.func as Expr & { kind: "Attribute" }).attr)
  )
    return isNetworkItself(made, facts);
  return facts.value(expr).what === "module" || (expr.kind !== "Call" && isNetwork(expr, facts));
}

/** `self.dtype` of `def __init__(self, dtype=torch.float64): self.dtype = dtype`. */
function isOwnDouble(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const [one, ...more] = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const value = more.length === 0 ? (one?.value ?? null) : null;
  const [given] = value?.kind === "Name" ? facts.file.scopes.reaching(value) : [];
  const said = given?.node.kind === "Param" ? given.node.default : value;
  return !!said && said.kind === "Attribute" && selfAttribute(said) === null && isDouble(said, facts);
}

/** `torch.ones(n, dtype=torch.float64, device=device)`: whatever it meets is widened. A sum or a few numbers are not worth a word. */
function isMadeDouble(call: Call, facts: Facts): boolean {
  const dtype = keyword(call, "dtype");
  return (
    dtype !== null &&
    isDouble(dtype.value, facts) &&
    /^torch\.(?:ones|zeros|full|rand|randn|linspace|logspace|eye|(?:ones|zeros|full|rand|randn)_like)$/.test(
      facts.file.dotted(call.func) ?? "",
    ) &&
    call.args.some(({ name, value }) => name === null && !/^(?:Num|Tuple|List)$/.test(value.kind)) &&
    facts.onAccelerator(call)
  );
}

/** The tensor that a call turns into float64. */
function widened(call: Call, facts: Facts): Expr | null {
  if (call.func.kind === "Attribute" && facts.file.dotted(call.func) === null) {
    if (call.func.attr === "double" && call.args.length === 0) return call.func.value;
    if (
      (call.func.attr === "to" || call.func.attr === "type") &&
      call.args.some((arg) => isDouble(arg.value, facts))
    )
      return call.func.value;
  }
  // `x.sum(dtype=torch.float64)`, `x.type(torch.DoubleTensor)`.
  const dtype = keyword(call, "dtype");
  if (
    dtype &&
    isDouble(dtype.value, facts) &&
    call.func.kind === "Attribute" &&
    facts.file.dotted(call.func) === null &&
    METHODS.has(call.func.attr)
  )
    return call.func.value;
  if (dtype && isDouble(dtype.value, facts) && (facts.file.dotted(call.func) ?? "").startsWith("torch."))
    return call.args[0]?.name === null ? call.args[0].value : null;
  return null;
}

function isDouble(expr: Expr, facts: Facts): boolean {
  // `x.type("torch.cuda.DoubleTensor")`
  if (expr.kind === "Str") return /^torch\.(?:cuda\.)?DoubleTensor$/.test(expr.value ?? "");
  if (isOwnDouble(expr, facts)) return true;
  const name = facts.file.dotted(expr);
  return (
    name === "torch.float64" ||
    name === "torch.double" ||
    name === "torch.DoubleTensor" ||
    name === "torch.cuda.DoubleTensor"
  );
}
