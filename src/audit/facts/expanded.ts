import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import { isOnlyMadeBy } from "./classes.ts";
import { isWrittenInto } from "./invariants.ts";

/** `rows = x.repeat(n, 1, 1)`, then `rows[0] = 1`, and `x.repeat(n, 1).sigmoid_()`: each copy is wanted; `.contiguous()` asks for them. */
export function areCopiesWanted(call: Call, file: PythonFile): boolean {
  return [call, ...usesOf(call, file)].some(
    (use) =>
      isWrittenInto(use) ||
      (use.parent?.kind === "Attribute" && /^(?:contiguous|clone)$/.test(use.parent.attr)),
  );
}

/**
 * All that comes of it is seen, and reads it as it would a view that shows one row many times. `view` refuses such a one, and so do
 * recurrent layers for their first state; what a function of the user's does with it, or whoever it is returned to, nobody knows.
 */
export function isReadAsView(expr: Expr, file: PythonFile, depth = 0): boolean {
  const { parent } = expr;
  if (!parent || depth > 12) return false;
  const again = (one: Expr): boolean => isReadAsView(one, file, depth + 1);
  switch (parent.kind) {
    case "Binary":
    case "Compare":
    case "Unary":
      return true;
    case "AugAssign":
      return parent.value === expr;
    case "IfExp":
      return parent.test === expr || again(parent);
    case "Assign": {
      const uses = usesOf(expr, file);
      return parent.value === expr && uses.length > 0 && uses.every(again);
    }
    case "Subscript":
      return parent.value !== expr || (!isWrittenInto(expr) && again(parent));
    case "Attribute": {
      if (/^(?:shape|dtype|device|ndim)$/.test(parent.attr)) return true;
      if (/^(?:m?T|data)$/.test(parent.attr)) return again(parent);
      const asked = parent.parent?.kind === "Call" && parent.parent.func === parent ? parent.parent : null;
      return asked !== null && (READS.test(parent.attr) || (SHOWS.test(parent.attr) && again(asked)));
    }
    case "List":
    case "Tuple":
      return isJoined(parent, file);
    case "Arg":
      return parent.parent?.kind === "Call" && isReader(parent.parent, file);
    default:
      return false;
  }
}

/** Methods that make another tensor of it, wherever it lies. */
const READS =
  /^(?:size|dim|numel|item|tolist|add|sub|mul|div|pow|abs|neg|exp|log|sqrt|square|sin|cos|sigmoid|tanh|relu|softmax|log_softmax|sum|mean|std|var|norm|max|min|amax|amin|argmax|argmin|eq|ne|lt|le|gt|ge|logical_not|clamp|matmul|bmm|masked_fill|masked_select|gather|index_select|where)$/;

/** And those that show the same memory, or may. */
const SHOWS =
  /^(?:to|float|half|double|bfloat16|long|int|bool|type|type_as|cuda|cpu|detach|unsqueeze|squeeze|transpose|permute|expand|expand_as|narrow)$/;

const FUNCTIONS =
  /^torch\.(?:add|sub|mul|div|pow|abs|exp|log|sqrt|square|sin|cos|sigmoid|tanh|softmax|log_softmax|sum|mean|std|var|norm|max|min|maximum|minimum|argmax|argmin|eq|ne|lt|le|gt|ge|where|gather|masked_fill|masked_select|matmul|bmm|baddbmm|einsum|cdist|lerp|addcmul|addcdiv)$|^torch\.nn\.functional\.(?:mse_loss|l1_loss|smooth_l1_loss|binary_cross_entropy(?:_with_logits)?|kl_div|cosine_similarity|softmax|log_softmax|relu|gelu|silu|sigmoid|softplus|normalize|linear|embedding|grid_sample|interpolate|one_hot)$/;

const JOINS = /^torch\.(?:cat|concat|concatenate|stack|hstack|vstack)$/;

const LAYERS = /^torch\.nn\.(?:Linear|LayerNorm|Embedding|Conv[123]d|ReLU|GELU|SiLU|Sigmoid|Tanh|Softmax)$/;

/** What takes tensors in either way, and changes none. */
function isReader(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func);
  if (call.args.some((arg) => arg.name === "out")) return false;
  if (name !== null) return FUNCTIONS.test(name) || name === "builtins.len" || name === "builtins.print";
  if (isOnlyMadeBy(call.func, file, (made) => LAYERS.test(file.dotted(made.func) ?? ""))) return true;
  return (
    call.func.kind === "Attribute" &&
    /^(?:mul|add|sub|div|masked_fill|matmul|bmm|eq|pow)_?$/.test(call.func.attr)
  );
}

function isJoined(list: Node, file: PythonFile): boolean {
  const asked = list.parent?.kind === "Arg" ? list.parent.parent : null;
  return asked?.kind === "Call" && JOINS.test(file.dotted(asked.func) ?? "");
}

/** Of the name that a value is bound to. */
function usesOf(value: Expr, { scopes }: PythonFile): readonly Expr[] {
  const [target, ...more] = value.parent?.kind === "Assign" ? value.parent.targets : [];
  const named = target?.kind === "Name" && more.length === 0 ? scopes.definitionAt(target) : null;
  return named ? scopes.uses(named) : [];
}
