import type { Definition } from "../../python/scopes.ts";
import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, walk } from "../../python/nodes.ts";
import type { Expr, FunctionDef, Lambda, Name, Param } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { hasTensorMethod } from "./inputs.ts";
import { isComputedName } from "./likely.ts";
import { isNetwork } from "./networks.ts";
import { callsOf } from "./returns.ts";
import { usedAsTensor } from "./tensor-use.ts";
import { FUNCTIONS, METHODS, TENSOR_ONLY_METHODS, last } from "./torch-names.ts";

/** The tensor among what a function is looked up by. */
export function keyTensor(fn: FunctionDef | Lambda, facts: Facts): Param | undefined {
  return fn.params.find(
    (one) =>
      isTensor(one, facts) ||
      isFed(one, facts) ||
      TENSORS.test(one.name) ||
      isReduced(one, fn, facts) ||
      isCalledAsTensors(one, facts),
  );
}

/** `flow`, `images`, `features`: in a file about torch a tensor by its name, unless it says otherwise. */
export function isCalledAsTensors(
  { annotation, default: usual, name }: Param,
  { file, guesses }: Facts,
): boolean {
  return (
    guesses &&
    annotation === null &&
    usual === null &&
    file.mentions("torch") &&
    (isComputedName(name) ||
      /^(?:flow|images?|imgs?|coords?|grid|noise|waveform|audio|mel|points|xyz|tensor)$/.test(name))
  );
}

/** What nobody calls anything else so. */
const TENSORS = /^(?:edge_(?:index|attr|weight)|input_ids|attention_mask|hidden_states)$/;

/**
 * `(pos[i] - pos[j]).norm(dim=-1)`, `(ids != pad).unsqueeze(1)`: only tensors have that, and nothing but the parameters can be
 * one.
 */
function isReduced(param: Param, fn: FunctionDef | Lambda, { file }: Facts): boolean {
  const isParam = (name: Name): boolean => fn.params.some((one) => one.name === name.id);
  const ofTensors = [...file.callsNamed(...TENSOR_ONLY_METHODS), ...file.calls.given(["dim"])];
  return ofTensors.some((call) => {
    const { func } = call;
    if (functionOf(call) !== fn || func.kind !== "Attribute" || file.dotted(func) !== null) return false;
    if (!METHODS.has(func.attr)) return false;
    const names = operandsOf(func.value);
    return names !== null && names.every(isParam) && names[0]?.id === param.name;
  });
}

/** The names that an expression of nothing but operators, indices and constants is computed from; null of any other. */
function operandsOf(expr: Expr): Name[] | null {
  switch (expr.kind) {
    case "Name":
      return [expr];
    case "Num":
      return [];
    case "Unary":
      return operandsOf(expr.operand);
    case "Subscript":
      return operandsOf(expr.value);
    case "Binary":
      return joined([expr.left, expr.right]);
    case "Compare":
      return joined([expr.left, ...expr.rights]);
    default:
      return null;
  }
}

function joined(exprs: readonly Expr[]): Name[] | null {
  const all = exprs.map(operandsOf);
  return all.includes(null) ? null : all.flatMap((names) => names ?? []);
}

/** `model(ids)`: what a network is run on. */
export function isFed(param: Param, facts: Facts): boolean {
  const definition = facts.file.scopes.definitionAt(param);
  return (
    definition !== null &&
    facts.file.scopes
      .uses(definition)
      .some(
        ({ parent }) =>
          parent?.kind === "Arg" &&
          parent.parent?.kind === "Call" &&
          (isNetwork(parent.parent.func, facts) || isPartOfNetwork(parent.parent.func, facts)),
      )
  );
}

/** `self.clip.text_encoder(ids)` */
function isPartOfNetwork(callee: Expr, facts: Facts): boolean {
  return (
    callee.kind === "Attribute" &&
    /(?:encoder|decoder|backbone|embedding|projection|head)$/.test(callee.attr) &&
    isNetwork(callee.value, facts)
  );
}

export function isTensor(param: Param, facts: Facts): boolean {
  const { annotation } = param;
  if (annotation) {
    const name = facts.file.dotted(annotation);
    return (
      /^torch\.(?:cuda\.)?\w*Tensor$/.test(name ?? "") ||
      (annotation.kind === "Str" && /^(?:\w+\.)?\w*Tensor$/.test(annotation.value ?? ""))
    );
  }
  const definition = facts.file.scopes.definitionAt(param);
  return (
    definition !== null &&
    param.name !== "self" &&
    (facts.isGivenTensors(param) ||
      isHandedTensor(param, facts) ||
      usedAsTensor(definition, facts) ||
      isFedToLayer(definition, facts) ||
      isComputedWith(definition, facts) ||
      isGivenToTorch(definition, facts) ||
      isCutByAxes(definition, facts) ||
      isMeasured(definition, facts.file) ||
      isMovedNumbers(definition, facts) ||
      hasTensorMethod(definition, facts.file))
  );
}

/** `steps = steps.to(device)`, and then `table[steps]` or `for t in steps` with `all_steps == t`: networks are moved as well, but nobody computes with them. */
function isMovedNumbers(definition: Definition, { file: { scopes } }: Facts): boolean {
  return scopes.uses(definition).some(({ parent }) => {
    const moved = parent?.kind === "Attribute" && /^(?:to|cuda)$/.test(parent.attr) ? parent.parent : null;
    if (moved?.kind !== "Call" || moved.func !== parent) return false;
    const [target] = moved.parent?.kind === "Assign" ? moved.parent.targets : [];
    const named = target?.kind === "Name" ? scopes.definitionAt(target) : null;
    return isOfNumbers(moved) || (named !== null && scopes.uses(named).some(isGoneThrough));
  });

  function isGoneThrough(use: Expr): boolean {
    if (isOfNumbers(use)) return true;
    const over = use.parent?.kind === "Clause" || use.parent?.kind === "For" ? use.parent : null;
    const each = over?.iter === use && over.target.kind === "Name" ? scopes.definitionAt(over.target) : null;
    return each !== null && scopes.uses(each).some(isOfNumbers);
  }
}

/** An operand, one side of a comparison, or what a table is asked for. */
function isOfNumbers(expr: Expr): boolean {
  const { parent } = expr;
  if (parent?.kind === "Compare") return !parent.ops.some((op) => /^(?:is|in|not)\b/.test(op));
  return parent?.kind === "Binary" || (parent?.kind === "Subscript" && parent.index === expr);
}

/**
 * `torch.stft(x, n)`, `torch.sin(2**j * x)`, which take tensors alone, and nothing else in there is one. einops takes arrays of
 * numpy and lists too, which can be no key.
 */
function isGivenToTorch(definition: Definition, { file }: Facts): boolean {
  return file.scopes.uses(definition).some((use) => {
    if (isJoined(use, file) || isFirstOfGiven(use, file)) return true;
    let at: Expr = use;
    while (at.parent?.kind === "Binary") at = at.parent;
    const call = at.parent?.kind === "Arg" ? at.parent.parent : null;
    if (
      call?.kind === "Call" &&
      call.args[0]?.value === use &&
      /^torch\.(?:i?stft|(?:fft|linalg)\.\w+|matmul|b?mm|\w+_like)$|^einops\.(?:rearrange|reduce|repeat)$/.test(
        file.dotted(call.func) ?? "",
      )
    )
      return true;
    if (
      at === use ||
      call?.kind !== "Call" ||
      !/^torch\.(?:sin|cos|exp|log|tanh|sigmoid)$/.test(file.dotted(call.func) ?? "")
    )
      return false;
    let alone = true;
    walk(at, (node) => {
      if (node.kind === "Name" && node !== use && !isCount(node, file)) alone = false;
      return alone && node.kind !== "Attribute";
    });
    return alone;
  });
}

/**
 * `F.softmax(scores / heat, dim=1)`: what comes out of the arithmetic is a tensor, and all that goes into it are parameters and
 * numbers. So one of these is, and mostly the one that stands first.
 */
function isFirstOfGiven(use: Name, file: PythonFile): boolean {
  let at: Expr = use;
  while (at.parent?.kind === "Binary" || at.parent?.kind === "Unary") at = at.parent;
  const call = at.parent?.kind === "Arg" ? at.parent.parent : null;
  if (at === use || call?.kind !== "Call") return false;
  if (positional(call, 0) !== at && keyword(call, "input")?.value !== at) return false;
  const name = file.dotted(call.func) ?? "";
  const takesTensor =
    name.startsWith("torch.nn.functional.") ||
    // `torch.pow(2, x)` and these take a number first as well.
    (name === `torch.${last(name)}` &&
      !/^(?:einsum|pow|remainder|where|xlogy)$/.test(last(name)) &&
      FUNCTIONS.has(last(name)));
  const fn = functionOf(use);
  const isGiven = (expr: Expr): boolean => {
    if (expr.kind === "Binary") return isGiven(expr.left) && isGiven(expr.right);
    if (expr.kind === "Unary") return isGiven(expr.operand);
    if (isNumber(expr, file)) return true;
    const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
    return one?.how === "param" && more.length === 0 && one.node.parent === fn && expr.start >= use.start;
  };
  return takesTensor && isGiven(at);
}

/** One of those that `torch.cat([a, b])` puts together, or that `torch.einsum("bik,ji->bjk", a, b)` multiplies, also in a list. */
function isJoined(use: Name, file: PythonFile): boolean {
  const { parent } = use;
  const list = parent?.kind === "List" || parent?.kind === "Tuple" ? parent : null;
  const arg = (list ?? use).parent;
  const call = arg?.kind === "Arg" && arg.star === 0 ? arg.parent : null;
  // `torch.einsum(equation, a, b)`
  if (call?.kind !== "Call" || (!list && call.args[0] === arg)) return false;
  const name = file.dotted(call.func) ?? "";
  return list ? /^torch\.(?:cat|concat|[hvd]?stack|einsum)$/.test(name) : name === "torch.einsum";
}

/** `for j in range(n)` */
function isCount(name: Name, file: PythonFile): boolean {
  return file.scopes
    .reaching(name)
    .every(
      ({ how, value }) =>
        how === "iterate" && value?.kind === "Call" && file.dotted(value.func) === "builtins.range",
    );
}

/** `weight(t)` of this file, with a `t = torch.rand(n)` or what a forward is given. */
function isHandedTensor(param: Param, facts: Facts): boolean {
  const fn = param.parent;
  if (fn?.kind !== "FunctionDef") return false;
  const at = fn.params.indexOf(param) - (fn.params[0]?.name === "self" ? 1 : 0);
  return callsOf(fn, facts.file).some((call) => {
    const given = keyword(call, param.name)?.value ?? positional(call, at);
    return given !== null && facts.value(given).what === "tensor";
  });
}

/** `(ids == 0).unsqueeze(1)`: beside a number, what has a tensor's methods after that was one before. */
function isComputedWith(definition: Definition, { file }: Facts): boolean {
  return file.scopes.uses(definition).some((use) => {
    const at = use.parent;
    const others =
      at?.kind === "Compare" ? [at.left, ...at.rights] : at?.kind === "Binary" ? [at.left, at.right] : [];
    const method = at?.parent?.kind === "Attribute" && at.parent.parent?.kind === "Call" ? at.parent : null;
    return (
      method !== null &&
      TENSORS_ONLY.test(method.attr) &&
      others.every((one) => one === use || isNumber(one, file))
    );
  });
}

/** `0`, or a name for it. */
function isNumber(expr: Expr, file: PythonFile): boolean {
  return (expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr)?.kind === "Num";
}

/** `spans[..., 0] * 2`: of what is cut along its axes and computed with, arrays of numpy can be no key. */
function isCutByAxes(definition: Definition, facts: Facts): boolean {
  const { file } = facts;
  const { scopes } = file;
  return scopes.uses(definition).some((use) => {
    const at = use.parent;
    if (at?.kind !== "Subscript" || at.value !== use || at.index.kind !== "Tuple") return false;
    const isCut = at.index.items.some(
      (one) => one.kind === "Slice" || (one.kind === "Const" && one.value === "..."),
    );
    if (!isCut) return false;
    // `heads = triplets[:, 0]`, and what is done with these.
    const statement = at.parent?.kind === "Assign" && at.parent.value === at ? at.parent : null;
    const named = statement?.targets[0]?.kind === "Name" ? scopes.definitionAt(statement.targets[0]) : null;
    return (
      isComputed(at, facts) ||
      (named !== null &&
        (scopes.uses(named).some((one) => isComputed(one, facts)) || hasTensorMethod(named, file)))
    );
  });
}

/**
 * `x.size(2)`, `x.size()[2]`, `n, c = x.size()`: what is asked for the length of one axis. Of arrays and images `size` is no method,
 * and other things have one size.
 */
function isMeasured(definition: Definition, { scopes }: PythonFile): boolean {
  return scopes.uses(definition).some(({ parent }) => {
    const call = parent?.kind === "Attribute" && parent.attr === "size" ? parent.parent : null;
    if (call?.kind !== "Call" || call.func !== parent || call.args.length > 1) return false;
    const [axis] = call.args;
    if (axis) return axis.name === "dim" || (axis.name === null && isPlace(axis.value));
    const to = call.parent;
    if (to?.kind === "Subscript")
      return to.value === call && (to.index.kind === "Slice" || isPlace(to.index));
    return to?.kind === "Assign" && to.value === call && to.targets[0]?.kind === "Tuple";
  });
}

/** `2`, `-1` */
function isPlace(expr: Expr): boolean {
  return (expr.kind === "Unary" && expr.op === "-" ? expr.operand : expr).kind === "Num";
}

/** An operand, or given to a layer or a function of torch. */
function isComputed(expr: Expr, facts: Facts): boolean {
  const { parent } = expr;
  return (
    parent?.kind === "Binary" ||
    parent?.kind === "Unary" ||
    isOfTorch(expr, facts.file) ||
    isGivenToLayer(expr, facts)
  );
}

/** Handed to a function of torch, alone or in a list. */
function isOfTorch(expr: Expr, file: PythonFile): boolean {
  const listed = expr.parent?.kind === "List" || expr.parent?.kind === "Tuple" ? expr.parent : expr;
  const call = listed.parent?.kind === "Arg" ? listed.parent.parent : null;
  return call?.kind === "Call" && (file.dotted(call.func) ?? "").startsWith("torch.");
}

/** Neither numbers nor arrays of numpy have these. */
const TENSORS_ONLY =
  /^(?:unsqueeze|float|long|half|bfloat16|bool|masked_fill|expand|permute|contiguous|cuda|cpu|softmax|sigmoid|clamp|to)$/;

function isFedToLayer(definition: Definition, facts: Facts): boolean {
  return facts.file.scopes.uses(definition).some((use) => isGivenToLayer(use, facts));
}

/** `self.proj(x)` in a module. */
function isGivenToLayer({ parent }: Expr, facts: Facts): boolean {
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call" || selfAttribute(call.func) === null) return false;
  const cls = classOf(call);
  return (
    cls !== null &&
    facts.role(cls) === "module" &&
    (facts.value(call.func).what === "module" || facts.networks.is(call.func))
  );
}
