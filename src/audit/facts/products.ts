import { isFalse, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Binary, Call, ClassDef, Expr, Name } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, isSelf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { holdsOptions } from "./options.ts";
import { isTensorLike } from "./value.ts";

/** `scores.dtype`, `weights.type_as(scores)`, `torch.zeros_like(scores)`: what asks for its kind alone would be content with its double. */
export function isOfKind({ parent }: Name): boolean {
  if (parent?.kind === "Attribute")
    return /^(?:dtype|device|shape|size|ndim|dim|numel|get_device|new_\w+)$/.test(parent.attr);
  const call = parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null;
  if (!call || call.args[0] !== parent) return false;
  const word = lastWord(call.func);
  return word === "to"
    ? call.func.kind === "Attribute"
    : /^(?:type_as|(?:view|reshape|expand)_as|(?:zeros|ones|full|empty|randn?)_like)$/.test(word);
}

/** `x @ A @ B`, `linear(linear(x, A), B)`, `self.lora_B(self.lora_A(x))`: the last product is as large as the layer's output. */
export function isProduct(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Binary")
    return (
      expr.op === "@" &&
      (isChained(expr.left, facts) ||
        isChained(expr.right, facts) ||
        /\.lora_?[AB]\b/i.test(facts.file.textOf(expr.right)))
    );
  if (expr.kind === "Name") return isProductByName(expr, facts);
  if (expr.kind !== "Call") return false;
  if (MULTIPLIES.test(facts.file.dotted(expr.func) ?? ""))
    return expr.args.slice(0, 3).some(({ name, value }) => name === null && isChained(value, facts));
  // `torch.mm(torch.mm(x, a), b).view_as(y)`
  if (
    expr.func.kind === "Attribute" &&
    /^(?:view|view_as|reshape|reshape_as|transpose|permute)$/.test(expr.func.attr) &&
    facts.file.dotted(expr.func) === null
  )
    return isProduct(expr.func.value, facts);
  // `self.dropout(self.up(self.down(x)))`
  if (isDropout(expr.func, facts) && expr.args[0] && isProduct(expr.args[0].value, facts)) return true;
  // `x.matmul(a).matmul(b)`
  if (isMatmul(expr, facts)) return expr.func.kind === "Attribute" && isChained(expr.func.value, facts);
  // A layer of the module, or one that was taken out of it.
  const layer =
    selfAttribute(picked(expr.func)) !== null ||
    (expr.func.kind === "Name" && /lora|adapter/i.test(expr.func.id));
  return layer && expr.args.length === 1 && isChained(expr.args[0]!.value, facts);
}

/** `self.lora_B` of `self.lora_B[name]`. */
function picked(expr: Expr): Expr {
  return expr.kind === "Subscript" ? expr.value : expr;
}

export const MULTIPLIES = /^torch\.(?:matmul|mm|bmm|einsum|nn\.functional\.linear)$|^einops\.einsum$/;

/** Bound once, and still named when its scaled double is made. */
function isProductByName(name: Name, facts: Facts): boolean {
  const made = facts.file.scopes.reaching(name);
  const one = made.length === 1 ? made[0]! : null;
  const target = name.parent?.parent;
  if (one?.how !== "assign" || !one.value || one.value.kind === "Name") return false;
  // `x = x * s` frees the unscaled one.
  const rebinds =
    target?.kind === "Assign" && target.targets.some((to) => to.kind === "Name" && to.id === name.id);
  return (
    !rebinds &&
    isProduct(one.value, facts) &&
    facts.file.scopes.uses(one).filter((use) => !isOfKind(use)).length === 1
  );
}

export function isMatmul({ func }: Call, facts: Facts): boolean {
  return (
    func.kind === "Attribute" && /^(?:matmul|mm|bmm)$/.test(func.attr) && facts.file.dotted(func) === null
  );
}

function isChained(expr: Expr, facts: Facts, depth = 0): boolean {
  if (expr.kind === "Binary") return expr.op === "@";
  if (expr.kind === "Name" && depth < 2) {
    const value = facts.file.scopes.onlyValue(expr);
    return value !== null && isChained(value, facts, depth + 1);
  }
  if (expr.kind !== "Call") return false;
  if (isMatmul(expr, facts)) return true;
  if (MULTIPLIES.test(facts.file.dotted(expr.func) ?? "")) return true;
  if (expr.func.kind === "Name") return /lora|adapter/i.test(expr.func.id);
  return (
    selfAttribute(picked(expr.func)) !== null &&
    (/lora|adapter|down/i.test(facts.file.textOf(picked(expr.func))) || isNarrow(expr.func, facts))
  );
}

export function isScalar(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Num") return true;
  if (expr.kind === "Unary") return expr.op === "-" && isScalar(expr.operand, facts);
  if (expr.kind === "Binary")
    return isScalar(expr.right, facts) && (isScalar(expr.left, facts) || isRootOfSize(expr, facts));
  if (expr.kind === "Name") {
    const made = facts.file.scopes.reaching(expr);
    const one = made[0];
    return (
      made.length === 1 &&
      ((one?.how === "assign" &&
        one.value !== null &&
        one.value.kind !== "Name" &&
        isScalar(one.value, facts)) ||
        (one?.how === "param" &&
          (/^(?:scal\w*|logits?_scale|alpha|lora_alpha|temperature|temp|T|tau|(?:\w+_)?(?:soft)?cap)$/.test(
            expr.id,
          ) ||
            (one.node.kind === "Param" && one.node.default?.kind === "Num"))))
    );
  }
  // `self.A.shape[1]`, `q.size(-1)`; an attribute ends with its name.
  if (
    expr.kind !== "Attribute" &&
    /\.shape\[-?\d\]$|\.size\(-?\d\)$/.test(facts.file.textOf(expr).slice(-24))
  )
    return true;
  // `self.scaling["default"]`
  if (expr.kind === "Subscript") return isScalar(expr.value, facts);
  // `math.sqrt(d)`, `float(s)`
  if (expr.kind === "Call") return COUNTS.test(facts.file.dotted(expr.func) ?? "") || isAskedNumber(expr);
  const own = expr.kind === "Attribute" ? selfAttribute(expr) : null;
  if (own === null) return expr.kind === "Attribute" && isSetting(expr);
  const cls = classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
  // It learns, and its gradient needs the product.
  if (writes.length === 0 && isParameter(expr, facts.file)) return false;
  if (writes.some(({ value }) => value?.kind === "Call" && lastWord(value.func) === "Parameter"))
    return false;
  if (cls && writes.length === 0 && isNumberOfClass(own, cls)) return true;
  if (/^(?:scal|\w+_scale$|alpha|lora_alpha)/.test(own) || facts.value(expr).what === "number") return true;
  // A setting of the constructor: what is a number unless somebody says otherwise,
  const isNumber = ({ value }: (typeof writes)[number]): boolean => {
    const [given] = value?.kind === "Name" ? facts.file.scopes.reaching(value) : [];
    return given?.node.kind === "Param" && given.node.default?.kind === "Num";
  };
  if (writes.length > 0 && writes.every(isNumber)) return true;
  // or what is handed in and never made a tensor.
  return (
    /^(?:s|r|rank|lora_r|lora_scal\w*|multiplier|factor|weight_scale|gain|lambda_?|\w*temp(?:erature)?|tau|\w+_tau|(?:\w+_)?(?:soft)?cap|\w*dim|\w+_size|d_model|n_embd)$/.test(
      own,
    ) &&
    writes.length > 0 &&
    writes.every(
      ({ how, value }) => how === "assign" && value !== null && facts.value(value).what !== "tensor",
    )
  );
}

/** `temperature = 0.7` in the class itself. */
function isNumberOfClass(own: string, { body }: ClassDef): boolean {
  return body.some(
    (one) =>
      one.kind === "Assign" &&
      one.value.kind === "Num" &&
      one.targets.some((to) => to.kind === "Name" && to.id === own),
  );
}

/** `self.logit_scale` that learns, also where a class that this one is made from has begun it. */
export function isParameter(factor: Expr, file: PythonFile): boolean {
  const own = selfAttribute(factor);
  return (
    own !== null &&
    file
      .callsNamed("Parameter")
      .some(
        ({ parent }) => parent?.kind === "Assign" && parent.targets.some((to) => selfAttribute(to) === own),
      )
  );
}

/** `self.width ** -0.5` */
function isRootOfSize({ op, left, right }: Binary, facts: Facts): boolean {
  return op === "**" && /^-? ?0?\.5$/.test(facts.file.textOf(right)) && !isTensorLike(facts.value(left));
}

/** `config.get("temperature", 1.0)` */
function isAskedNumber({ func, args }: Call): boolean {
  const [key, otherwise] = args;
  return (
    func.kind === "Attribute" &&
    func.attr === "get" &&
    key?.value.kind === "Str" &&
    otherwise?.value.kind === "Num"
  );
}

/** What gives a Python number, whatever it is given. */
const COUNTS = /^(?:math\.\w+|numpy\.sqrt|builtins\.(?:float|int|len|round))$/;

/** `self.args.temperature`: what is set for a run and multiplied is a number; `params` may as well hold weights. */
function isSetting({ value }: Attribute): boolean {
  const holder = value.kind === "Name" ? value.id : value.kind === "Attribute" ? value.attr : "params";
  return !isSelf(value) && holder !== "params" && (holdsOptions(value) || SETTINGS.test(holder));
}

/** `sampling_params.temperature`: said by what it is for. */
const SETTINGS = /^(?:sampling|generation|gen|train(?:ing)?|hyper)_?param(?:eter)?s$/;

function isDropout(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(expr, facts.file, (made) =>
    /^torch\.nn\.Dropout\w*$/.test(facts.file.dotted(made.func) ?? ""),
  );
}

/** A linear layer without a bias: one half of a product of low rank. */
function isNarrow(expr: Expr, facts: Facts): boolean {
  return isOnlyMadeBy(
    expr,
    facts.file,
    (made) =>
      facts.file.dotted(made.func) === "torch.nn.Linear" && isFalse(keyword(made, "bias")?.value ?? null),
  );
}
