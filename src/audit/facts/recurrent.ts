import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** A network of this file around a recurrent layer, which detaches nothing. */
export function isOwnRecurrent(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Name") return false;
  const made = facts.file.scopes.reaching(expr).map(({ value }) => constructed(value, facts.file));
  const cls = facts.file
    .all("ClassDef")
    .find((one) => made.length > 0 && made.every((name) => name === facts.file.qualified(one)));
  const text = cls ? facts.file.codeOf(cls) : "";
  return /\b(?:LSTM|GRU|RNN)(?:Cell)?\(/.test(text) && !/detach/.test(text);
}

/** Whether a recurrent network of this file hands its state back cut off: `return out, hidden.detach()`. */
export function anyCutsItsOwn(file: PythonFile): boolean {
  return file.all("Return").some((one) => {
    const fn = functionOf(one);
    const cls = fn?.kind === "FunctionDef" && fn.name === "forward" ? classOf(one) : null;
    return (
      cls !== null &&
      /\.detach\(/.test(file.textOf(one)) &&
      /\b(?:LSTM|GRU|RNN)(?:Cell)?\(/.test(file.codeOf(cls))
    );
  });
}

/** The class behind `Net(…)`, also as `Net(…).cuda()`. */
export function constructed(value: Expr | null, file: PythonFile): string | null {
  let at = value;
  while (at?.kind === "Call" && at.func.kind === "Attribute" && /^(?:to|cuda|train)$/.test(at.func.attr))
    at = at.func.value;
  return at?.kind === "Call" ? file.dotted(at.func) : null;
}

export function isRecurrentLayer(expr: Expr, facts: Facts): boolean {
  const made = (value: Expr | null): boolean =>
    /^torch\.nn\.(?:LSTM|GRU|RNN)(?:Cell)?$/.test(constructed(value, facts.file) ?? "");
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    return (
      cls !== null &&
      (attributesOf(cls, facts.file)
        .get(own)
        ?.writes.every((write) => made(write.value)) ??
        false)
    );
  }
  return (
    expr.kind === "Name" &&
    facts.file.scopes
      .reaching(expr)
      .every(({ how, value, index }) =>
        made(how === "iterate" && value ? layerOf(value, index, facts) : value),
      )
  );
}

/** `nn.LSTM(…)` of `for i, cell in enumerate(self.cells)`, also beside others in a `zip`, where these are a list of it. */
function layerOf(iterable: Expr, index: number | null, { file }: Facts): Expr | null {
  const whole =
    iterable.kind === "Call" && file.dotted(iterable.func) === "builtins.enumerate"
      ? iterable.args[0]?.value
      : iterable;
  const counted =
    whole?.kind === "Call" && file.dotted(whole.func) === "builtins.zip"
      ? whole.args[index ?? -1]?.value
      : whole;
  const own = counted ? selfAttribute(counted) : null;
  const cls = own === null ? null : classOf(iterable);
  const [write, ...more] = (cls && attributesOf(cls, file).get(own!)?.writes) ?? [];
  if (write?.value?.kind !== "Call" || more.length > 0 || lastWord(write.value.func) !== "ModuleList")
    return null;
  const given = write.value.args[0]?.value;
  const list = given?.kind === "Name" ? file.scopes.onlyValue(given) : given;
  return list?.kind === "Comp" ? list.element : list?.kind === "List" ? (list.items[0] ?? null) : null;
}
