import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, Name } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isLossName } from "./naming.ts";
import { FUNCTIONS, METHODS, TENSOR_ONLY_METHODS, last } from "./torch-names.ts";

/** Methods that tensors share with nothing a training script passes about: not with strings, lists or numbers. */
const TELLING: ReadonlySet<string> = new Set(
  "masked_fill norm softmax log_softmax sigmoid relu exp log matmul mm bmm permute transpose unsqueeze contiguous view detach float half bfloat16 clamp argmax chunk cpu cuda expand t dim numel ndimension".split(
    " ",
  ),
);

/** Whether the value is used as only a tensor can be: by a tensor's methods, or by torch's functions. */
export function usedAsTensor(definition: Definition, facts: Facts): boolean {
  const { what } = facts.valueOfDefinition(definition);
  if (what === "tensor") return true;
  if (what !== "unknown" && what !== "output") return false;
  return isUsedAsTensor(definition, facts.file);
}

const known = (): Map<Definition, readonly Name[]> => new Map();

/** Every read that a definition may reach, looked for once: whether it is a tensor is asked in several ways. */
export function usesOf(definition: Definition, file: PythonFile): readonly Name[] {
  const found = file.once(known);
  let uses = found.get(definition);
  if (!uses) found.set(definition, (uses = file.scopes.uses(definition)));
  return uses;
}

/** What only tensors have. */
const OF_TENSORS: ReadonlySet<string> = new Set([
  "shape",
  "device",
  "dtype",
  "requires_grad",
  "mT",
  "is_cuda",
]);

/** The same by what is written alone. */
export function isUsedAsTensor(definition: Definition, file: PythonFile): boolean {
  return usesOf(definition, file).some((use) => {
    const { parent } = use;
    if (parent?.kind === "Attribute" && parent.value === use) {
      if (OF_TENSORS.has(parent.attr)) return true;
      const call = parent.parent;
      if (call?.kind !== "Call" || call.func !== parent) return false;
      return (
        TENSOR_ONLY_METHODS.has(parent.attr) ||
        TELLING.has(parent.attr) ||
        // Of NumPy's arrays and of pictures it is no method.
        (parent.attr === "size" && call.args.length === 1 && isWhole(call.args[0]!.value)) ||
        (METHODS.has(parent.attr) && (keyword(call, "dim") !== null || keyword(call, "keepdim") !== null))
      );
    }
    if (parent?.kind === "Binary") return parent.op === "@";
    const call = parent?.kind === "Arg" ? parent.parent : null;
    if (call?.kind !== "Call" || (positional(call, 0) !== use && keyword(call, "input")?.value !== use))
      return false;
    const name = file.dotted(call.func) ?? "";
    return (
      isOnlyMadeBy(call.func, file, (made) => (file.dotted(made.func) ?? "").startsWith("torch.nn.")) ||
      // The first that `einsum` is given is its equation.
      (name === `torch.${last(name)}` && name !== "torch.einsum" && FUNCTIONS.has(last(name))) ||
      name.startsWith("torch.nn.functional.")
    );
  });
}

/** `0`, `-1` */
function isWhole(expr: Expr): boolean {
  const number = expr.kind === "Unary" ? expr.operand : expr;
  return number.kind === "Num" && /^\d$/.test(number.text);
}

/**
 * `value` of `loss, value = model(x)`: what a network of another file tells beside its loss may be a number that it has read,
 * unless somebody uses it as a tensor.
 */
export function mayBeNumber(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Binary") return mayBeNumber(expr.left, facts) && mayBeNumber(expr.right, facts);
  if (expr.kind === "Num") return true;
  // `info["kl"]`
  const of = expr.kind === "Subscript" && expr.index.kind === "Str" ? expr.value : expr;
  const [made, ...more] = of.kind === "Name" ? facts.file.scopes.reaching(of) : [];
  if (made?.how !== "unpack" || more.length > 0 || !made.index || made.value?.kind !== "Call") return false;
  if (isLossName(made.name) || facts.isDifferentiated(made) || isUsedAsTensor(made, facts.file)) return false;
  const tuple = made.node.parent;
  return (
    tuple?.kind === "Tuple" &&
    tuple.items.some((item) => {
      const beside = item === made.node ? null : facts.file.scopes.definitionAt(item);
      return beside !== null && facts.isDifferentiated(beside);
    })
  );
}

/**
 * `values * mask`, `values *= mask`, where the values are on the device: what has dimensions, as the caller knows, can only be
 * computed with them there.
 */
export function isBesideDevice(name: Name, facts: Facts): boolean {
  const [one, ...more] = facts.file.scopes.reaching(name);
  if (!one || more.length > 0 || !facts.accelerator) return false;
  return usesOf(one, facts.file).some((use) => {
    const { parent } = use;
    if (parent?.kind === "AugAssign")
      return parent.value === use && ARITHMETIC.test(parent.op) && facts.onAccelerator(parent.target);
    if (parent?.kind !== "Binary" || !ARITHMETIC.test(parent.op)) return false;
    return facts.onAccelerator(parent.left === use ? parent.right : parent.left);
  });
}

const ARITHMETIC = /^[-+*/]$/;
