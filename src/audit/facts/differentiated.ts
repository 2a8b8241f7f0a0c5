import { handedIn } from "./handed-in.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, ClassDef, Expr, Subscript } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Role } from "./classes.ts";
import { backwardCalls, returnedLosses } from "./training.ts";

/** What a file's backward passes start from, and what must therefore be a tensor with a graph. */
export class Differentiated {
  readonly definitions = new Set<Definition>();
  /** What holds a differentiated loss beside others: `losses` of `losses["loss"].mean()`. */
  readonly holders = new Set<Definition>();
  /** `output["loss"]` and `losses.total` as they are written, after where their function starts. */
  readonly items = new Set<string>();
  /** Attributes of classes, by where the class starts. */
  readonly attributes = new Set<string>();
  readonly #file: PythonFile;
  readonly #isPlain: (expr: Expr) => boolean;

  constructor(file: PythonFile, isPlain: (expr: Expr) => boolean) {
    this.#file = file;
    this.#isPlain = isPlain;
  }

  /** Apart from the constructor: whether something is a plain number is asked on the way, of who asks back. */
  follow(role: (cls: ClassDef) => Role, stepped: readonly Expr[]): void {
    const losses = backwardCalls(this.#file).flatMap(({ loss }) => (loss ? [loss] : []));
    for (const loss of losses) {
      const own = selfAttribute(loss);
      if (own !== null) this.attributes.add(`${classOf(loss)!.start}.${own}`);
      if (loss.kind === "Subscript" && loss.index.kind === "Str") this.items.add(itemKey(loss, this.#file));
      if (loss.kind === "Attribute" && own === null && !this.#isPutAnew(loss))
        this.items.add(itemKey(loss, this.#file));
    }
    for (const loss of [...losses, ...stepped]) this.#trace(loss);
    this.#traceHandedIn();
    for (const loss of returnedLosses(this.#file, role)) this.#trace(loss);
  }

  /** `losses.total = losses.total.item()`: what is read behind that is no tensor. */
  #isPutAnew(loss: Attribute): boolean {
    return this.#file
      .assignsTo(loss.attr)
      .some((anew) => anew.start > loss.end && functionOf(anew) === functionOf(loss));
  }

  /** `backward(total_loss, scaler)`: what a function of this file is given and differentiates. */
  #traceHandedIn(): void {
    for (const definition of this.definitions)
      for (const given of handedIn(definition, this.#file, true)) this.#trace(given);
  }

  /** Follows a differentiated expression to the names that must be tensors with a graph too. */
  #trace(expr: Expr): void {
    if (expr.kind === "Name") {
      for (const definition of this.#file.scopes.reaching(expr)) {
        if (this.definitions.has(definition)) continue;
        if (definition.value?.kind === "Num") continue;
        this.definitions.add(definition);
        // `loss += penalty` says that both are tensors, `loss /= steps` of the loss alone.
        const adds = definition.node.parent?.kind === "AugAssign" && /^[-+]$/.test(definition.node.parent.op);
        if (definition.value && (definition.how === "assign" || (definition.how === "augment" && adds)))
          this.#trace(definition.value);
        if (definition.how === "augment") {
          const statement = definition.node.parent;
          if (statement?.kind === "AugAssign" && (statement.op === "/" || statement.op === "*"))
            for (const earlier of this.#file.scopes.reaching(definition.node as never))
              if (!this.definitions.has(earlier) && earlier.value?.kind !== "Num")
                this.definitions.add(earlier);
        }
      }
    } else if (expr.kind === "Binary") {
      // In a product either side may be a plain weight; in a quotient only the right one.
      if (expr.op === "/" || (expr.op === "*" && this.#isPlain(expr.right))) this.#trace(expr.left);
      else if (expr.op === "*" && this.#isPlain(expr.left)) this.#trace(expr.right);
      else if (expr.op === "*" && (isLossOf(expr.left) || isTerm(expr.left))) this.#trace(expr.left);
      else if (expr.op === "*" && (isTerm(expr.right) || isHeldTerm(expr.right))) this.#trace(expr.right);
      // The terms of a sum that are called losses are tensors like it.
      else if (expr.op === "+" || expr.op === "-")
        for (const side of [expr.left, expr.right])
          if (side.kind === "Binary" || isTerm(side) || isHeldTerm(side)) this.#trace(side);
    } else if ((isLossOf(expr) || isKeyed(expr)) && expr.value.kind === "Name") {
      for (const definition of this.#file.scopes.reaching(expr.value))
        if (definition.how === "assign" || definition.how === "unpack") this.holders.add(definition);
    } else if (
      expr.kind === "Call" &&
      expr.func.kind === "Attribute" &&
      /^(?:mean|sum|mul|div|double|float|half|bfloat16|squeeze|to)$/.test(expr.func.attr) &&
      this.#file.dotted(expr.func) === null
    ) {
      this.#trace(expr.func.value);
    }
  }
}

export function itemKey(item: Subscript | Attribute, file: PythonFile): string {
  return `${functionOf(item)?.start ?? -1} ${file.textOf(item)}`;
}

/** What people add up to a loss. */
function isTerm(expr: Expr): boolean {
  return (
    expr.kind === "Name" &&
    ((/loss|entropy/i.test(expr.id) && !/weight|coef|scale/i.test(expr.id)) || MEASURE.test(expr.id))
  );
}

/** `out.recon_loss + beta * out.kl_loss`: what a network handed back holds them. `args.kl_loss` is a weight. */
function isHeldTerm(expr: Expr): boolean {
  return isLossOf(expr) && !SETTINGS.test(lastWord(expr.value));
}

const SETTINGS = /(?:args|cfg|conf|config|opts?|options|hparams|params|weights|coefs?|lambdas)$/i;

/** Losses by the short names of what they measure. `beta_kl` is the weight of one. */
const MEASURE =
  /^(?:(?:batch|mean|train|neg|recon?|token)_)?(?:nll|kld?|kl_div(?:ergence)?|n?elbo|bce|xent|mse|mae)\d?$/i;

/** A loss, not its weight. */
const LOSS = /^(?:\w+[_/])?loss(?:es)?$/i;

/** `losses["total"]`: what people call the sum of the others. */
function isKeyed(expr: Expr): expr is Subscript {
  return (
    expr.kind === "Subscript" &&
    expr.index.kind === "Str" &&
    /^(?:total|all|sum|overall|final|objective|nll|elbo)$/i.test(expr.index.value ?? "")
  );
}

/** `losses["loss"]`, `outputs.loss`. */
function isLossOf(expr: Expr): expr is Subscript | Attribute {
  if (expr.kind === "Attribute") return LOSS.test(expr.attr);
  return expr.kind === "Subscript" && expr.index.kind === "Str" && LOSS.test(expr.index.value ?? "");
}
