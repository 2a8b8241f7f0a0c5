import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { entry } from "./arguments.ts";
import { appendedTo, returnsByName, sharedParam } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { GRAPHLESS, METHODS } from "./torch-names.ts";
import { UNKNOWN, either, isTensorLike } from "./value.ts";
import type { Value } from "./value.ts";
import type { Around, Values } from "./values.ts";

const only = (all: readonly Expr[]): Expr | null => (all.length === 1 ? all[0]! : null);

/** What functions of a file return, or one item of the tuple that they return: a tensor or a module, if that is so at every return. */
export class ReturnedValues {
  readonly #file: PythonFile;
  readonly #around: Around;
  readonly #values: Values;

  constructor(file: PythonFile, around: Around, values: Values) {
    this.#file = file;
    this.#around = around;
    this.#values = values;
  }

  of(call: Call, index: number | null): Value {
    const target = callTarget(call, this.#file);
    const values = target === null ? undefined : this.#file.once(returnsByName).get(target);
    if (!values) return UNKNOWN;
    const items = values.map((value) =>
      index === null
        ? value
        : value.kind === "Tuple"
          ? (value.items[index] ?? null)
          : value.kind === "Name"
            ? only(appendedTo(value, this.#file))
            : // `return [x.to(device) for x in batch]`
              value.kind === "Comp" && value.value === null
              ? value.element
              : null,
    );
    if (items.some((item) => item === null || item.kind === "Starred")) return UNKNOWN;
    // `return {"x": x.to(device), "y": y.to(device)}`: asked by key, each is one.
    const found = items.map((item) => {
      if (item!.kind !== "Dict") return this.#values.of(item!);
      const one = this.#values.alike(item!.values);
      return isTensorLike(one) ? { ...one, what: "output" as const } : UNKNOWN;
    });
    // `self.layer1 = self.make_layer(64, 3)`, which returns `nn.Sequential(*blocks)`.
    if (found.every(({ what }) => what === "module")) return found[0]!;
    if (!found.every(isTensorLike)) return items.length === 1 ? this.#echoed(call, items[0]!) : UNKNOWN;
    const one = found.reduce(either);
    const mode = this.#around.gradMode(call);
    if (mode === "off") return { ...one, graph: "no" };
    // Called with recording and without, it gives this caller what a network that learns computed.
    return mode === "on" && one.graph === "unknown" && items.every((item) => this.#isOfNetwork(item!))
      ? { ...one, graph: "yes" }
      : one;
  }

  /** `metrics["loss"]` of `return {"loss": loss, "steps": n}`: that one of them. */
  entry(call: Call, key: string): Value {
    const target = callTarget(call, this.#file);
    const dicts = (target === null ? undefined : this.#file.once(returnsByName).get(target)) ?? [];
    const found = dicts.map((dict) => {
      const one = dict.kind === "Dict" ? entry(dict, key) : null;
      return one ? this.#values.of(one) : UNKNOWN;
    });
    return found.length > 0 && found.every(isTensorLike) ? found.reduce(either) : UNKNOWN;
  }

  /** `def averaged(t, n): return t.clone() / n`: handed tensors and other things, it gives this call what this call hands it. */
  #echoed(call: Call, returned: Expr): Value {
    const param = sharedParam(returned, this.#file);
    const fn = param?.node.parent;
    if (!param || fn?.kind !== "FunctionDef") return UNKNOWN;
    const at = fn.params.findIndex(({ name }) => name === param.name);
    const shift = fn.params[0]!.name === "self" ? 1 : 0;
    const given = keyword(call, param.name)?.value ?? positional(call, at - shift);
    const value = given ? this.#values.of(given) : UNKNOWN;
    return isTensorLike(value) ? { ...value, graph: value.graph === "no" ? "no" : "unknown" } : UNKNOWN;
  }

  /** `q1, q2 = self.critic(states, actions)`, then `return q1, q2`; also by `value = self.critic(states).squeeze()`. */
  #isOfNetwork(item: Expr): boolean {
    const [made, ...more] = item.kind === "Name" ? this.#file.scopes.reaching(item) : [];
    let run = item.kind === "Call" ? item : more.length === 0 ? made?.value : null;
    while (
      run?.kind === "Call" &&
      run.func.kind === "Attribute" &&
      run.func.value.kind === "Call" &&
      METHODS.has(run.func.attr) &&
      !GRAPHLESS.has(run.func.attr)
    )
      run = run.func.value;
    if (run?.kind !== "Call" || (made && made.how !== "assign" && made.how !== "unpack")) return false;
    return (
      (this.#values.of(run.func).what === "module" || this.#values.networks.is(run.func)) &&
      !this.#values.networks.isFrozen(run.func)
    );
  }
}
