import { isNone } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Attribute } from "./classes.ts";
import { isLossName } from "./naming.ts";
import type { Value } from "./value.ts";

/** A module may call these too: no layers. */
const NO_LAYER =
  /tokeni[sz]er|processor|matcher|(?<!up_?|down_?|re)sampler?$|assigner|anchor|metric|post_?proc|logger|writer|augment|schedul|config|builder|factory|maker|collat|vocab|callback|diffusion|mix_?up|cut_?mix|accuracy|precision|recall|score|ema$|env$/i;

/**
 * What a module is given for an attribute that it calls is a layer, or computes as one, whoever made it: handed in
 * (`self.body = body`), made of what is (`norm_layer(dim)`), taken from another network (`resnet.conv1`) or a table
 * (`ACT2FN[name]`), or a layer that some function was given first (`layer_init(nn.Linear(8, 8))`).
 */
export function isGivenLayer(
  { value, in: method }: Attribute["writes"][number],
  name: string,
  cls: ClassDef,
  file: PythonFile,
  valueOf: (expr: Expr) => Value,
): boolean {
  if (!value || NO_LAYER.test(name) || isLossName(name)) return false;
  const isGiven = (one: Expr): boolean => {
    switch (one.kind) {
      case "Name":
        return isParam(one, method);
      case "Attribute":
        return (one.value.kind === "Name" || selfAttribute(one.value) !== null) && file.dotted(one) === null;
      case "Subscript":
        return one.value.kind === "Name" && one.index.kind !== "Slice";
      case "Call":
        return (
          isParam(one.func, method) ||
          one.func.kind === "Call" ||
          one.args.some((arg) => valueOf(arg.value).what === "module") ||
          // `conv3x3(64, 64)` of another file.
          isMadeByFunction(file.dotted(one.func))
        );
      // `activation if activation is not None else nn.Identity()`
      case "IfExp":
        return isGiven(one.body) || isGiven(one.orelse);
      default:
        return false;
    }
  };
  return (
    isGiven(value) &&
    file.callsNamed(name).some(({ func }) => selfAttribute(func) === name && classOf(func) === cls)
  );
}

/** `self.pools[0](x)`, of a list or dict that a method or another class filled: what a module calls out of it is a layer. */
export function isListedLayer(callee: Expr): boolean {
  const own = callee.kind === "Subscript" ? selfAttribute(callee.value) : null;
  return own !== null && !NO_LAYER.test(own);
}

/** A function, of no library that makes other things that can be called. */
function isMadeByFunction(name: string | null): boolean {
  return (
    name !== null &&
    /(?:^|\.)_*[a-z]\w*$/.test(name) &&
    !/^(?:builtins|numpy|torchvision|transformers|functools|operator)\./.test(name)
  );
}

/** A parameter of the method, by its name. */
export function isParam(expr: Expr, method: FunctionDef): boolean {
  return expr.kind === "Name" && method.params.some(({ name }) => name === expr.id);
}

/** `self.norm = None`, which nobody calls, and `self.block = checkpoint(self.block)`: they make the attribute nothing else than the layer it is. */
export function leavesLayer(value: Expr | null, name: string): boolean {
  return (
    isNone(value) ||
    // `self.layers = []`, and in the end `self.layers = nn.Sequential(*self.layers)`
    value?.kind === "List" ||
    (value?.kind === "Call" && value.args.some((arg) => selfAttribute(arg.value) === name))
  );
}
