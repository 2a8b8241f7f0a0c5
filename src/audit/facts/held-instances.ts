import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, FunctionDef, Return } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { className, madeBy } from "./constructors.ts";

/**
 * The class that all that a container holds is of, for `meters["loss"].update(loss)`: meters, more than all else, are made by the
 * dozen and held under their names.
 */
export function heldType(container: Expr, file: PythonFile): string | null {
  const own = selfAttribute(container);
  const cls = own === null ? null : classOf(container);
  const begun: readonly (Expr | null)[] =
    container.kind === "Name"
      ? file.scopes.reaching(container).map(({ how, value }) => (how === "assign" ? value : null))
      : cls
        ? (attributesOf(cls, file).get(own!)?.writes ?? []).flatMap(({ how, value }) =>
            how === "assign" ? [value] : [],
          )
        : [];
  if (begun.length === 0) return null;
  const types = new Set<string | null>();
  for (const value of begun) {
    const held = value ? heldBy(value, file) : null;
    if (held === null) return null;
    for (const type of held) types.add(type);
  }
  // `meters["total"] = AverageMeter()`, below what others were made with.
  const name = file.textOf(container);
  for (const { holder, value } of file.once(entriesMade).get(name) ?? [])
    if (isSame(holder, container, file)) types.add(typeOf(value, file));
  const [only, ...more] = types;
  return more.length === 0 ? (only ?? null) : null;
}

interface EntryMade {
  readonly holder: Expr;
  readonly value: Expr;
}

/** By the text of the container: what is made and put into it by itself, `meters[name] = AverageMeter()`. */
function entriesMade(file: PythonFile): ReadonlyMap<string, readonly EntryMade[]> {
  const found = new Map<string, EntryMade[]>();
  for (const { targets, value } of file.all("Assign")) {
    const [target] = targets;
    if (target?.kind !== "Subscript" || targets.length !== 1) continue;
    const name = file.textOf(target.value);
    const others = found.get(name);
    if (others) others.push({ holder: target.value, value });
    else found.set(name, [{ holder: target.value, value }]);
  }
  return found;
}

/** The same variable, and not another's of the same name. */
function isSame(holder: Expr, container: Expr, { scopes }: PythonFile): boolean {
  if (holder.kind === "Name" && container.kind === "Name")
    return scopes.lookup(holder)?.scope === scopes.lookup(container)?.scope;
  return classOf(holder) === classOf(container);
}

/** The classes of what it is begun with; null where it is nothing that holds others. */
function heldBy(value: Expr, file: PythonFile): readonly (string | null)[] | null {
  if (value.kind === "Dict") return value.values.map((one) => typeOf(one, file));
  if (value.kind === "List" || value.kind === "Tuple") return value.items.map((one) => typeOf(one, file));
  if (value.kind === "Comp")
    return value.flavour === "dict" || value.flavour === "list"
      ? [typeOf(value.value ?? value.element, file)]
      : null;
  if (value.kind !== "Call") return null;
  const name = file.dotted(value.func);
  // `defaultdict(AverageMeter)`, `defaultdict(lambda: AverageMeter(20))`
  if (name === "collections.defaultdict") {
    const maker = positional(value, 0);
    if (maker?.kind === "Lambda") return [typeOf(maker.body, file)];
    return maker ? [className(file.dotted(maker))] : null;
  }
  return /^(?:builtins\.dict|collections\.OrderedDict)$/.test(name ?? "") &&
    value.args.every((arg) => arg.name !== null)
    ? value.args.map((arg) => typeOf(arg.value, file))
    : null;
}

const typeOf = (value: Expr, file: PythonFile): string | null =>
  value.kind === "Call" ? madeBy(value, file) : null;

/** `meter` of `return losses, meter`, for `a, b = start_meters()` of a function of this file that ends so, and nowhere else. */
export function handedOutAs({ value, index }: Definition, file: PythonFile): Expr | null {
  if (value?.kind !== "Call" || value.func.kind !== "Name" || index === null) return null;
  const [one, ...more] = file.scopes.reaching(value.func);
  const fn = one?.node;
  if (fn?.kind !== "FunctionDef" || more.length > 0) return null;
  const returns = file.once(returnsOf).get(fn) ?? [];
  const tuple = returns.length === 1 ? returns[0]!.value : null;
  return tuple?.kind === "Tuple" ? (tuple.items[index] ?? null) : null;
}

function returnsOf(file: PythonFile): ReadonlyMap<FunctionDef, readonly Return[]> {
  const found = new Map<FunctionDef, Return[]>();
  for (const one of file.all("Return")) {
    const fn = functionOf(one);
    if (fn?.kind !== "FunctionDef") continue;
    const others = found.get(fn);
    if (others) others.push(one);
    else found.set(fn, [one]);
  }
  return found;
}
