import { argument, isTrue } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Attribute, Call, Expr, Name, Subscript } from "../../python/tree.ts";
import { isOnlyMadeBy, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { callTarget } from "./summary.ts";
import { FUNCTIONS, METHODS, last } from "./torch-names.ts";
import { loopsAround } from "./training.ts";
import { isUsedUp } from "./used-up.ts";

/** These return views, or may return their argument itself. */
const VIEWS =
  /^(?:reshape|flatten|squeeze|unsqueeze|transpose|permute|t|swapaxes|moveaxis|movedim|narrow|diagonal|chunk|split|unbind|broadcast_to|real|imag|view_as_real|view_as_complex|conj|dropout|clone|meshgrid|take)$/;

/** These compute a new tensor whatever they are given. */
const NEW =
  /^(?:normalize|softmax|log_softmax|softplus|logsigmoid|sigmoid|tanh|gelu|silu|layer_norm|group_norm|linear|conv[123]d|interpolate|one_hot|cross_entropy|mse_loss|exp|log|sqrt|square|pow|cumsum)$/;

/** Whether a name may stand for one of those; where nothing reaches it, for any. */
export function isOneOf(some: readonly Definition[], ...those: readonly (Definition | null)[]): boolean {
  return some.length === 0 || some.some((one) => those.includes(one));
}

/** Whether the copy may be written to: kept somewhere, handed on (`returned`: but to those who call), or changed in place. */
export function isChangedLater(call: Call, facts: Facts, returned = false): boolean {
  // `x.clone()[:, :-1]`: what is done with the part is done with the copy.
  const read = handedOn(call, facts);
  const { parent } = read;
  // `x.clone().mean()`: used up at once.
  if (parent?.kind === "Attribute" && parent.value === read) return isWriting(parent);
  if (parent?.kind === "Binary") return false;
  // `self.log_probs(logits=out.logits.clone())`, a method that only reads what it gets.
  if (parent?.kind === "Arg" && parent.parent?.kind === "Call")
    return !isReadBy(parent.parent, facts) && !isOnlyRead(parent, parent.parent, facts);
  if (returned && parent?.kind === "Return") return false;
  const name = renamed(read);
  return name === null || isChangedUnder(name, facts, returned);
}

/** Whether what has this name may be written to, by it or by another name for it or for a part: `scores = copy[:, :-1]`. */
function isChangedUnder(name: Name, facts: Facts, returned: boolean, depth = 0): boolean {
  const made = depth < 4 ? facts.file.scopes.definitionAt(name) : null;
  if (!made || isAddedTo(made, name, facts.file)) return true;
  return facts.file.scopes.uses(made).some((use) => {
    const read = handedOn(use, facts);
    const at = read.parent;
    if (at?.kind === "Binary" || at?.kind === "Compare") return false;
    // `out += copy`
    if (at?.kind === "AugAssign") return at.value !== read;
    // A loss, or a function of torch's, only reads it; one of this file may.
    if (at?.kind === "Arg" && at.parent?.kind === "Call")
      return !isReadBy(at.parent, facts) && !isOnlyRead(at, at.parent, facts);
    if (at?.kind === "Attribute" && at.value === read) return isWriting(at);
    if (returned && at?.kind === "Return") return false;
    const other = renamed(read);
    return other === null || isChangedUnder(other, facts, returned, depth + 1);
  });
}

/** Whether what was copied is seen to be written to after the copy, by its name or by another one: the copy has the numbers from before. */
export function isSourceWritten(call: Call, source: Expr, facts: Facts): boolean {
  let root = source;
  while (root.kind === "Call" && root.func.kind === "Attribute") root = root.func.value;
  const [loop] = loopsAround(call);
  return (
    root.kind === "Name" &&
    facts.file.scopes.reaching(root).some((made) => {
      // Made before the loop, it is written to in the next turn as well.
      const from = loop && !contains(loop, made.node) ? 0 : call.end;
      return isWrittenUnder(made, root, from, facts);
    })
  );
}

function isWrittenUnder(made: Definition, name: Name, from: number, facts: Facts, depth = 0): boolean {
  if (isAddedTo(made, name, facts.file)) return true;
  return facts.file.scopes.uses(made).some((use) => {
    if (use.start < from) return false;
    const read = handedOn(use, facts);
    const at = read.parent;
    if (at?.kind === "Attribute" && at.value === read)
      return (
        isWriting(at) &&
        (at.attr !== "data" || /^\.data(?:\[|\.\w*[^_]_\b)/.test(facts.file.text.slice(read.end)))
      );
    if (at?.kind === "AugAssign") return at.target === read;
    if (at?.kind === "Assign" && at.targets.includes(read)) return read.kind !== "Name";
    if (at?.kind === "Arg" && at.parent?.kind === "Call")
      return at.name === "out" || at.parent.args.some((one) => one.name === "inplace" && isTrue(one.value));
    const other = depth < 4 ? renamed(read) : null;
    const again = other && facts.file.scopes.definitionAt(other);
    return again ? isWrittenUnder(again, other, from, facts, depth + 1) : false;
  });
}

/** `before = x.clone()`, also `x.clone().detach()`, in a function that never reads the name. */
export function isUnread(call: Call, file: PythonFile): boolean {
  let made: Call = call;
  while (
    made.parent?.kind === "Attribute" &&
    made.parent.parent?.kind === "Call" &&
    METHODS.has(made.parent.attr) &&
    !made.parent.attr.endsWith("_")
  )
    made = made.parent.parent;
  if (made.parent?.kind === "ExprStmt") return made === call;
  const name = renamed(made);
  const fn = name && functionOf(call);
  const kept = fn?.kind === "FunctionDef" ? file.scopes.definitionAt(name!) : null;
  return (
    kept !== null &&
    file.scopes.uses(kept).length === 0 &&
    !isAddedTo(kept, name!, file) &&
    // `global before`, and what reads names by their text.
    !/\b(?:global|nonlocal|locals|vars|eval|exec)\b/.test(file.codeOf(fn!))
  );
}

/** `copy /= 2` writes in place. */
export function isAddedTo(made: Definition, { id }: Name, file: PythonFile): boolean {
  const { scopes } = file;
  return file
    .all("AugAssign")
    .some(
      ({ target }) => target.kind === "Name" && target.id === id && isOneOf(scopes.reaching(target), made),
    );
}

/** `other` of `other = copy[1:]`, and of `one, other = copy[:1], copy[1:]`. */
function renamed(read: Expr): Name | null {
  const several = read.parent?.kind === "Tuple" ? read.parent : null;
  const value = several ?? read;
  const [left, ...more] =
    value.parent?.kind === "Assign" && value.parent.value === value ? value.parent.targets : [];
  const name =
    several && left?.kind === "Tuple" ? left.items[several.items.indexOf(read)] : several ? null : left;
  return name?.kind === "Name" && more.length === 0 ? name : null;
}

/** Methods that hand on the tensor itself, or a view of it. */
const HANDS_ON =
  /^(?:detach|view|view_as|reshape|reshape_as|flatten|unflatten|squeeze|unsqueeze|transpose|permute|t|swapaxes|swapdims|movedim|moveaxis|narrow|select|diagonal|unfold|chunk|split|unbind|contiguous|to|cuda|float|half|bfloat16|double|type|type_as|expand|expand_as|numpy)$/;

/** `copy[:half]`, `copy.squeeze(0)`, `copy.detach()` of `copy`: what is done with that is done with the copy. */
export function handedOn<T extends Expr>(use: T, facts: Facts): Expr {
  const { parent } = use;
  if (parent?.kind === "Subscript" && parent.value === use) return handedOn(parent, facts);
  if (parent?.kind !== "Attribute" || parent.value !== use) return use;
  if (/^m?T$/.test(parent.attr)) return handedOn(parent, facts);
  const isView = HANDS_ON.test(parent.attr) || (parent.attr === "cpu" && !facts.accelerator);
  return isView && parent.parent?.kind === "Call" && parent.parent.func === parent
    ? handedOn(parent.parent, facts)
    : use;
}

const isWriting = ({ attr }: Attribute): boolean => /[^_]_$/.test(attr) || attr === "data";

/** A loss, or a function of torch's that writes nothing in place. */
function isReadBy({ func, args }: Call, facts: Facts): boolean {
  const name = facts.file.dotted(func);
  if (name === null) return facts.networks.isLoss(func);
  return (
    /^torch\.(?:nn\.functional\.)?\w*[^_]$/.test(name) &&
    !VIEWS.test(last(name)) &&
    !args.some((arg) => arg.name === "inplace")
  );
}

/** Whether a function of this file, or a loss of another one, writes into the argument nowhere, and hands it to torch alone. */
function isOnlyRead(arg: Arg, call: Call, facts: Facts): boolean {
  if (arg.star !== 0) return false;
  const { file } = facts;
  const fn = file.functionNamed(callTarget(call, file));
  const callee = fn ? null : facts.callee(call);
  const params = fn ? fn.params.map(({ name }) => name) : callee?.usesUp ? callee.params : [];
  const at = call.args.indexOf(arg) + (params[0] === "self" ? 1 : 0);
  const name = arg.name ?? params[at];
  if (name === undefined) return false;
  if (!fn) return callee?.usesUp?.includes(name) === true;
  const param = fn.params.find((one) => one.name === name);
  return param !== undefined && isUsedUp(param, file);
}

export function isFresh(expr: Expr, facts: Facts): boolean {
  // `(a * b).clone()`
  if (expr.kind === "Binary") return facts.value(expr).what === "tensor";
  if (expr.kind === "Subscript" || expr.kind === "Attribute") return isPartOfNew(expr, facts);
  if (expr.kind !== "Call") return false;
  // A layer that computes; `Identity`, `Dropout` and `Flatten` may hand on their input.
  if (selfAttribute(expr.func) !== null) return isComputingLayer(expr.func, facts) && isClosed(expr, facts);
  const name = facts.file.dotted(expr.func) ?? "";
  if (name.startsWith("torch.nn.functional."))
    return NEW.test(last(name)) && !expr.args.some((arg) => arg.name === "inplace") && isClosed(expr, facts);
  // `logits.softmax(1).clone()`
  if (name === "" && expr.func.kind === "Attribute" && NEW.test(expr.func.attr))
    return facts.value(expr).what === "tensor" && isClosed(expr, facts);
  return (
    name === `torch.${last(name)}` &&
    FUNCTIONS.has(last(name)) &&
    !VIEWS.test(last(name)) &&
    isClosed(expr, facts)
  );
}

/** Functions and methods that hand back several new tensors. */
const SEVERAL =
  /^(?:topk|sort|kthvalue|mode|cummax|cummin|std_mean|var_mean|multi_head_attention_forward|lstm_cell)$/;

/** `self.lstm(x)[0]`, `x.topk(5).values`: one of several new tensors, whole, and not a row of one. */
function isPartOfNew(part: Subscript | Attribute, facts: Facts): boolean {
  const { value: call } = part;
  if (call.kind !== "Call") return false;
  const named = part.kind === "Attribute";
  if (named ? !/^(?:values|indices)$/.test(part.attr) : part.index.kind !== "Num") return false;
  if (!named && selfAttribute(call.func) !== null)
    return isOnlyMadeBy(call.func, facts.file, (made) =>
      /^torch\.nn\.(?:LSTM|GRU|RNN|LSTMCell|MultiheadAttention)$/.test(facts.file.dotted(made.func) ?? ""),
    );
  const name = facts.file.dotted(call.func);
  const word = name !== null ? last(name) : call.func.kind === "Attribute" ? call.func.attr : "";
  const dim = argument(call, "dim", name === null ? 0 : 1);
  const several =
    SEVERAL.test(word) ||
    // Of one tensor along a dimension; of two it is one tensor.
    (/^(?:max|min|median)$/.test(word) && (dim?.kind === "Num" || dim?.kind === "Unary"));
  if (!several) return false;
  if (name !== null) return /^torch\.(?:nn\.functional\.)?\w+$/.test(name);
  return call.func.kind === "Attribute" && facts.value(call.func.value).what === "tensor";
}

/** Cloned just as it is. */
function isClosed(expr: Expr, { file }: Facts): boolean {
  return file.text[expr.end] === "." || expr.parent?.kind === "Arg";
}

export const COMPUTING =
  /^torch\.nn\.(?:Linear|Bilinear|Conv\w+|\w*Norm\w*|Embedding|GELU|SiLU|Tanh|Sigmoid|Softmax)$/;

function isComputingLayer(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(expr, facts.file, (made) => COMPUTING.test(facts.file.dotted(made.func) ?? ""));
}
