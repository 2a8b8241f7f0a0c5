import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { isLossName } from "./naming.ts";
import { numbersHandedBack, returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/** Of the names that what a call hands back is unpacked into, those that stand beside its tensors: sizes, counts, what is told with a loss. */

/** What people call sizes. */
const SIZE = /^[A-Z]$|^(?:bs|h|w|t|n|height|width|length|\w*_(?:len|size|length|dim|shape|count))$/;

/** `x, T, W = self.patch_embed(x)` */
export function isSize(definition: Definition): boolean {
  return SIZE.test(definition.name) && !isHidden(definition);
}

/** `out, h = rnn(x, h)`: no height without a width. */
function isHidden({ name, node }: Definition): boolean {
  const tuple = node.parent;
  return name === "h" && tuple?.kind === "Tuple" && tuple.items.length === 2 && tuple.items[1] === node;
}

/**
 * `images, loss, perplexity = net(x)` where a forward hands back `images, loss, 0`: the network's, as far as that is known, or
 * one of this file; or hands on what another network has handed back there. `places`: of the forward that a call runs.
 */
export function isNumberOfForward(
  definition: Definition,
  file: PythonFile,
  places: (call: Call) => string | null,
  depth = 0,
): boolean {
  const { node, index, value } = definition;
  const tuple = node.parent;
  if (index === null || tuple?.kind !== "Tuple") return false;
  const place = `${index} of ${tuple.items.length}`;
  const isAmong = (all: string | null): boolean => all !== null && all.split(",").includes(place);
  for (const forward of file.once(numbersHandedBack).values()) if (isAmong(forward)) return true;
  if (value?.kind !== "Call") return false;
  if (isAmong(places(value))) return true;
  if (depth > 2) return false;
  const target = callTarget(value, file);
  const isNumber = (one: Expr): boolean => {
    const item = one.kind === "Tuple" && one.items.length === tuple.items.length ? one.items[index] : null;
    const made = item?.kind === "Name" ? file.scopes.reaching(item) : [];
    return made.length > 0 && made.every((each) => isNumberOfForward(each, file, places, depth + 1));
  };
  for (const [name, values] of file.once(returnsByName))
    if (target === null ? name.endsWith(".forward") : name === target)
      if (values.every(isNumber)) return true;
  return false;
}

/** `out, count = adapt(net, x)` of a function of this file that hands back `out, scores.size(0)`. */
export function isCount({ value, index }: Definition, file: PythonFile): boolean {
  const name = value?.kind === "Call" && index !== null ? callTarget(value, file) : null;
  const all = name === null ? undefined : file.once(returnsByName).get(name);
  return (
    all?.every((one) => {
      const item = one.kind === "Tuple" ? one.items[index!] : undefined;
      return (
        item?.kind === "Num" ||
        (item?.kind === "Call" && /^(?:size|numel|item|len|float|int)$/.test(lastWord(item.func)))
      );
    }) === true
  );
}

/** `f1` of `f1, f2 = torch.split(features, n)`: as much of a tensor as the others, whatever its name. */
export function isPartOfOne({ how, value }: Definition): boolean {
  return (
    how === "unpack" &&
    value?.kind === "Call" &&
    /^(?:split|chunk|unbind|tensor_split)$/.test(lastWord(value.func))
  );
}

/** `items` of `loss, items = criterion(out, y)`: of what is told beside a loss, most are numbers. */
export function isBesideLoss({ how, index, value }: Definition): boolean {
  return (
    how === "unpack" &&
    index !== null &&
    index > 0 &&
    value?.kind === "Call" &&
    isLossName(lastWord(value.func))
  );
}

/** `items["total"]` of such: whatever it may have been given its value by is told beside a loss. */
export function areBesideLoss(expr: Expr, file: PythonFile): boolean {
  const definitions = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return definitions.length > 0 && definitions.every(isBesideLoss);
}

/** `loss` of `loss, loss_node = compute(out, y)`, of which the second is differentiated: the first is there to be told, whatever it is. */
export function isToldBefore(
  { name, node, index }: Definition,
  differentiated: ReadonlySet<Definition>,
  { scopes }: PythonFile,
): boolean {
  if (index === null || !isLossName(name) || node.parent?.kind !== "Tuple") return false;
  return node.parent.items.slice(index + 1).some((item) => {
    const other = item.kind === "Name" && isLossName(item.id) ? scopes.definitionAt(item) : null;
    return other !== null && differentiated.has(other);
  });
}

/** `loss` of `loss, node = compute(x)`, where an object of this file that is called like a function hands back `loss.data * count, loss`. */
export function isCutByCallable(expr: Expr, file: PythonFile): boolean {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const tuple = one?.node.parent;
  if (!one || more.length > 0 || one.index === null || tuple?.kind !== "Tuple") return false;
  for (const [name, values] of file.once(returnsByName))
    for (const value of name.endsWith(".__call__") ? values : [])
      if (
        value.kind === "Tuple" &&
        value.items.length === tuple.items.length &&
        /\.(?:data\b|item\(|detach\()/.test(file.textOf(value.items[one.index]!))
      )
        return true;
  return false;
}
