import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Param } from "../../python/tree.ts";
import { BATCH_INPUT, isPreparedLoader } from "./inputs.ts";
import { yieldsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { MODULE, NUMBER, STRING, UNKNOWN, isTensorLike } from "./value.ts";
import type { Value } from "./value.ts";
import type { Around, Values } from "./values.ts";

/** What a loop goes through hands out: a loader's batches, a tensor's rows, a network's layers and parameters, one of a list that was written down. */
export class Elements {
  readonly #file: PythonFile;
  readonly #around: Around;
  readonly #values: Values;

  constructor(file: PythonFile, around: Around, values: Values) {
    this.#file = file;
    this.#around = around;
    this.#values = values;
  }

  /** Of pairs and triples the one at a position. */
  of(iterable: Expr, at: number | null): Value {
    if (isPreparedLoader(iterable, this.#file)) return BATCH_INPUT;
    if (iterable.kind === "Call") {
      const name = this.#file.dotted(iterable.func);
      if (name === "builtins.range") return NUMBER;
      if (name === "builtins.enumerate" && at !== null && iterable.args[0])
        return at === 0 ? NUMBER : this.#partOf(iterable.args[0].value);
      if (name === "builtins.zip" && at !== null && iterable.args[at])
        return this.#partOf(iterable.args[at].value);
      if (iterable.func.kind === "Attribute" && /^(?:items|values)$/.test(iterable.func.attr)) {
        const made = writtenAs(iterable.func.value, this.#file);
        if (made?.kind === "Dict" && iterable.func.attr === (at === null ? "values" : "items"))
          return at === 0 ? STRING : this.#values.alike(made.values);
        if (made === null && iterable.func.attr === (at === null ? "values" : "items"))
          return at === 0 ? STRING : this.#handedByKey(iterable.func.value);
        // `for name, value in losses.items()` of `losses = criterion(outputs, targets)`
        if (this.#around.guesses && at !== 0 && made?.kind === "Call")
          return this.#ofLosses(iterable.func.value);
      }
      if (
        iterable.func.kind === "Attribute" &&
        (at === null
          ? iterable.func.attr === "parameters"
          : at === 1 && iterable.func.attr === "named_parameters")
      )
        return { what: "tensor", device: "network", graph: "no" };
    }
    // `for x, y in to_device(loader, device)`: what a generator of this file yields.
    if (iterable.kind === "Call") {
      const target = callTarget(iterable, this.#file);
      const yields = target === null ? undefined : this.#file.once(yieldsByName).get(target);
      if (yields) {
        const items = yields.map((one) =>
          at === null ? one : one.kind === "Tuple" ? (one.items[at] ?? null) : null,
        );
        return items.every((item) => item !== null) ? this.#values.alike(items as Expr[]) : UNKNOWN;
      }
    }
    const made = at === null ? writtenAs(iterable, this.#file) : null;
    if (made?.kind === "List" || made?.kind === "Tuple") return this.#values.alike(made.items);
    if (iterable.kind === "Name" && this.#values.isCollection(iterable)) {
      const one = this.#values.alternatives(this.#file.scopes.reaching(iterable));
      return one.what === "tensor" || one.what === "output" ? one : UNKNOWN;
    }
    // `for block in self.transformer.h`
    if (iterable.kind === "Attribute" && at === null && this.#values.of(iterable.value).what === "module")
      return MODULE;
    const value = this.#values.of(iterable);
    // A tensor's rows; the layers of a module that is a list of them.
    return value.what === "tensor" || (value.what === "module" && at === null) ? value : UNKNOWN;
  }

  /** One of `tuple(t.to(device) for t in batch)`, by that or by its name. */
  ofSent(expr: Expr): Value {
    const written = writtenAs(expr, this.#file);
    const made = written?.kind === "Call" ? listedBy(written, this.#file) : written;
    return made?.kind === "Comp" && made.value === null ? this.#values.of(made.element) : UNKNOWN;
  }

  /** One of what the callers gave by names of their own, `def report(**values)`, or as a dict of data; losses in one are asked of where it is handed over. */
  #handedByKey(expr: Expr): Value {
    const [one, ...more] = expr.kind === "Name" ? this.#file.scopes.reaching(expr) : [];
    const given =
      one?.how === "param" && more.length === 0 && one.node.kind === "Param" && one.node.star !== 1
        ? this.#around.parameter(one)
        : null;
    return given && ((given.what === "output" && given.graph === "no") || (one!.node as Param).star === 2)
      ? given
      : UNKNOWN;
  }

  /** One of a dict that a loss gave: likely a tensor of its own, with a graph. */
  #ofLosses(dict: Expr): Value {
    const whole = this.#values.of(dict);
    return isTensorLike(whole) && whole.graph === "yes" ? whole : UNKNOWN;
  }

  /** One of several that are counted, or gone through together: of a network's list of feature maps, `zip(ours, theirs)`, one of these. */
  #partOf(iterable: Expr): Value {
    const one = this.of(iterable, null);
    if (one.what !== "unknown") return one;
    const whole = this.#values.of(iterable);
    return whole.what === "output" && whole.graph === "yes" ? whole : UNKNOWN;
  }
}

/** What `tuple(t.to(device) for t in batch)` and `list(…)` list. */
export function listedBy({ func, args }: Call, file: PythonFile): Expr | null {
  return /^builtins\.(?:tuple|list)$/.test(file.dotted(func) ?? "") ? (args[0]?.value ?? null) : null;
}

/** A list or dict as it was written down, where there is only one it can be. */
export function writtenAs(expr: Expr, file: PythonFile): Expr | null {
  return expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
}

/** Where in `for a, b in …` a name stands; null for a name by itself, or deeper in. */
export function positionIn({ node, index }: Definition): number | null {
  const tuple = node.parent;
  return tuple?.kind === "Tuple" && (tuple.parent?.kind === "For" || tuple.parent?.kind === "Clause")
    ? index
    : null;
}
