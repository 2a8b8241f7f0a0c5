import { isNone } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Param } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { usedAsTensor } from "./tensor-use.ts";
import { METHODS, SIZES, TUPLE_RESULTS } from "./torch-names.ts";

/** Layers that give more than a tensor. */
const SEVERAL = /^(?:LSTM|GRU|RNN|MultiheadAttention|AdaptiveLogSoftmaxWithLoss|Module(?:List|Dict))$/;

/**
 * A tensor, and nothing that a network may hand back or be handed beside tensors, as a tuple, a dict, a number or nothing at all are:
 * a method of tensors can be asked of it.
 */
export function isKnownTensor(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 12) return false;
  const again = (one: Expr): boolean => isKnownTensor(one, facts, depth + 1);
  switch (expr.kind) {
    case "Name": {
      const made = facts.file.scopes.reaching(expr);
      return made.length > 0 && made.every((one) => isOfTensor(one, facts, depth + 1));
    }
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Unary":
      return expr.op !== "not" && again(expr.operand);
    case "IfExp":
      return [expr.body, expr.orelse].every((one) => isWritten(one) || again(one));
    case "Bool":
      return expr.values.every((one) => isWritten(one) || again(one));
    case "Subscript":
      return again(expr.value) || facts.value(expr).what === "tensor";
    case "Call":
      return facts.value(expr).what === "tensor" || isResult(expr, facts, depth);
    default:
      return facts.value(expr).what === "tensor";
  }
}

function isWritten({ kind }: Expr): boolean {
  return kind === "Num" || kind === "Const";
}

function isResult(call: Call, facts: Facts, depth: number): boolean {
  const { file } = facts;
  const { func } = call;
  const isLayer = isOnlyMadeBy(func, file, (made) => {
    const [, layer] = /^torch\.nn\.(?:modules\.\w+\.)?(\w+)$/.exec(file.dotted(made.func) ?? "") ?? [];
    return layer !== undefined && !SEVERAL.test(layer);
  });
  if (isLayer) return true;
  const target = callTarget(call, file);
  const returned = target === null ? undefined : file.once(returnsByName).get(target);
  if (returned) return returned.every((one) => isKnownTensor(one, facts, depth + 3));
  return (
    func.kind === "Attribute" &&
    METHODS.has(func.attr) &&
    !TUPLE_RESULTS.has(func.attr) &&
    isKnownTensor(func.value, facts, depth + 1)
  );
}

function isOfTensor(made: Definition, facts: Facts, depth: number): boolean {
  const { how, index, node, value } = made;
  const again = (one: Expr): boolean => isKnownTensor(one, facts, depth + 1);
  if (how === "param" && node.kind === "Param") {
    const said = annotated(node, facts);
    if (said !== null) return said;
    if (node.star !== 0 || isNone(node.default)) return false;
    const given = handedIn(made, facts.file, true);
    return usedAsTensor(made, facts) || (given.length > 0 && given.every(again));
  }
  if (usedAsTensor(made, facts)) return true;
  if (!value) return false;
  if (how === "assign" || how === "augment" || how === "walrus") return again(value);
  if (how !== "unpack" || index === null) return false;
  if (value.kind === "Tuple") return value.items[index] !== undefined && again(value.items[index]);
  // `out, state = self.rnn(x)`
  return (
    index === 0 &&
    value.kind === "Call" &&
    isOnlyMadeBy(value.func, facts.file, (call) =>
      /^torch\.nn\.(?:modules\.\w+\.)?(?:LSTM|GRU|RNN|MultiheadAttention)$/.test(
        facts.file.dotted(call.func) ?? "",
      ),
    )
  );
}

/** By its annotation; null where that says nothing. */
function annotated({ annotation }: Param, { file }: Facts): boolean | null {
  if (!annotation) return null;
  return /^["']?(?:torch\.)?(?:\w*Tensor)["']?$/.test(file.textOf(annotation));
}

/** By its name a count or a place, or a parameter that is only ever given such: `labels(logits.shape[0])`. */
export function isCount(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Name") return isPlainCount(expr, facts);
  if (SIZES.test(expr.id) || /(?:^|_)(?:ids?|idx|index|indices)$/.test(expr.id)) return true;
  const made = facts.file.scopes.reaching(expr);
  return (
    made.length > 0 &&
    made.every((one) => {
      const given = one.how === "assign" && one.value ? [one.value] : handedIn(one, facts.file, true);
      return given.length > 0 && given.every((value) => isPlainCount(value, facts));
    })
  );
}

/** `x.shape[0]`, `x.size(0)`, `len(x)` */
function isPlainCount(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Subscript") return expr.value.kind === "Attribute" && expr.value.attr === "shape";
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "size")
    return expr.args.length === 1;
  return facts.value(expr).what === "number";
}
