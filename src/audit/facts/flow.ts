import type { Definition } from "../../python/scopes.ts";
import { classOf, contains, functionOf } from "../../python/nodes.ts";
import type { AugAssign, Call, ClassDef, Expr, Name, Node, Str, Subscript } from "../../python/tree.ts";
import {
  hasWeights,
  isAdded,
  isHanded,
  isLayerOfLoop,
  isOfModule,
  isOwnLayer,
  isTrainedPart,
  isTransform,
  readsSelf,
} from "./called-layers.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { holdsIndices, isIndices } from "./indices.ts";
import { unpackedFrom } from "./inputs.ts";
import { isListedLayer } from "./own-layers.ts";
import { moved } from "./naming.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { SIZES, last, transformsTensors } from "./torch-names.ts";

/** Methods whose result no longer belongs to the graph. */
const CUTS = new Set([
  "detach",
  "detach_",
  "item",
  "tolist",
  "numpy",
  "size",
  "dim",
  "numel",
  "argmax",
  "argmin",
  "backward",
  "requires_grad_",
  "register_hook",
  "isnan",
  "isinf",
  "isfinite",
]);
/** Functions of the tree whose result is no tensor with its argument's graph. */
const COUNTS =
  /len|count|size|num|shape|accura|metric|mask|index|idx|init|inspect|stat|build|create|make|load|save|parse|check|print|log|^get_|^is_|^[A-Z]/;

/** Callees that read a value and keep nothing of it. */
const READERS =
  /^(?:builtins\.(?:print|float|int|len|str|repr|isinstance|bool|type|format)|math\..*|.*\.(?:isnan|isinf|isfinite|add_scalar|info|debug|warning|log|set_postfix|set_description))$/;

/**
 * Whether the value of this definition may end up in a backward pass: through names, lists, arithmetic, returns and calls.
 * Errs towards yes: only a clear no lets a rule speak.
 */
export function mayBeDifferentiated(definition: Definition, facts: Facts): boolean {
  const seen = new Set<Definition>();
  const queue = [definition];
  for (let one = queue.pop(); one; one = queue.pop()) {
    if (seen.has(one)) continue;
    seen.add(one);
    if (facts.isDifferentiated(one)) return true;
    for (const use of facts.file.scopes.uses(one)) {
      const next = whereTo(use, facts);
      if (next === "escapes") return true;
      if (next) queue.push(...next);
    }
    // `total += x` makes a new definition out of the old one.
    for (const other of facts.file.scopes.scopeOf(one.node).bindings.get(one.name) ?? [])
      if (
        other.how === "augment" &&
        !seen.has(other) &&
        other.node.kind === "Name" &&
        facts.file.scopes.reaching(other.node).includes(one)
      )
        queue.push(other);
  }
  return false;
}

/** The same for what is kept in an attribute, or in one member of it: every read of it in the class. */
export function attributeMayBeDifferentiated(
  attribute: string,
  cls: ClassDef,
  facts: Facts,
  member: string | null = null,
): boolean {
  return facts.file.all("Attribute").some((node) => {
    if (selfAttribute(node) !== attribute || !contains(cls, node) || isWritten(node)) return false;
    if (member === null) return leadsToBackward(whereTo(node, facts), facts);
    const { parent } = node;
    return (
      parent?.kind === "Attribute" && parent.attr === member && leadsToBackward(whereTo(parent, facts), facts)
    );
  });
}

function leadsToBackward(where: readonly Definition[] | "escapes" | null, facts: Facts): boolean {
  return where === "escapes" || (where?.some((one) => mayBeDifferentiated(one, facts)) ?? false);
}

function isWritten(node: Node): boolean {
  const { parent } = node;
  return (
    (parent?.kind === "Assign" && parent.targets.includes(node as never)) ||
    (parent?.kind === "AugAssign" && parent.target === node)
  );
}

/** Where a read value goes: nowhere (null), into other definitions, or out of sight. */
function whereTo(use: Expr, facts: Facts): readonly Definition[] | "escapes" | null {
  let child: Node = use;
  for (let at = use.parent; at; child = at, at = at.parent) {
    switch (at.kind) {
      case "Attribute":
        if (at.parent?.kind === "Call" && at.parent.func === at) {
          if (CUTS.has(at.attr)) return at.attr === "backward" ? "escapes" : null;
          if (at.attr === "append" || at.attr === "extend" || at.attr === "clear") return null;
        } else if (at.attr === "data" || at.attr === "shape" || at.attr === "device" || at.attr === "dtype")
          return null;
        break;
      case "Call": {
        if (at.func === child) break;
        return "escapes";
      }
      case "Arg": {
        const call = at.parent;
        if (call?.kind !== "Call") return "escapes";
        const name = facts.file.dotted(call.func);
        const method = call.func.kind === "Attribute" ? call.func.attr : null;
        if (
          (name !== null && READERS.test(name)) ||
          (method !== null && name === null && READERS.test(`x.${method}`))
        )
          return null;
        if (method === "append" && call.func.kind === "Attribute" && call.func.value.kind === "Name")
          return facts.file.scopes.reaching(call.func.value);
        if (
          name === null ||
          !(
            name.startsWith("torch.") ||
            name === "builtins.sum" ||
            name === "builtins.max" ||
            name === "builtins.min"
          )
        )
          return "escapes";
        child = call;
        at = call;
        break;
      }
      // Into a text.
      case "Binary":
        if (at.op === "%" && facts.value(at).what === "string") return null;
        break;
      case "Str":
      case "Compare":
      case "Assert":
      case "ExprStmt":
      case "If":
      case "While":
      case "Delete":
        return null;
      case "For":
        return child === at.iter
          ? (facts.file.scopes.scopeOf(at).bindings.get(at.target.kind === "Name" ? at.target.id : "") ??
              "escapes")
          : null;
      case "Assign": {
        // Written into, not read: `kept[step] = loss`.
        if (at.targets.includes(child as never)) return null;
        if (
          at.targets.length === 1 &&
          (sameAttribute(use, at.targets[0]!) || sameMember(use, at.targets[0]!))
        )
          return null;
        const found = at.targets.map((target) =>
          target.kind === "Name" ? facts.file.scopes.definitionAt(target) : null,
        );
        return found.every((definition) => definition !== null) ? found : "escapes";
      }
      case "AugAssign": {
        if (child === at.target) return null;
        if (selfAttribute(at.target) !== null && sameAttribute(use, at.target)) return null;
        const found = at.target.kind === "Name" ? facts.file.scopes.definitionAt(at.target) : null;
        return found ? [found] : "escapes";
      }
      case "Dict":
      case "Return":
      case "Yield":
      case "Lambda":
      case "AnnAssign":
        return "escapes";
      default:
        break;
    }
  }
  return "escapes";
}

/** `totals.loss` that is read to write `totals.loss` anew. */
function sameMember(use: Expr, target: Expr): boolean {
  const { parent } = use;
  return (
    use.kind === "Name" &&
    parent?.kind === "Attribute" &&
    target.kind === "Attribute" &&
    target.attr === parent.attr &&
    target.value.kind === "Name" &&
    target.value.id === use.id
  );
}

/** `self.x` that is read to write `self.x` anew. */
function sameAttribute(use: Expr, target: Expr): boolean {
  const own = selfAttribute(use);
  return own !== null && selfAttribute(target) === own;
}

/**
 * Whether an expression computes, with gradients recorded, from a parameter of the function around it.
 * In a forward, those carry the history of the layers before.
 */
export function derivesFromInput(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 30) return false;
  const again = (inner: Expr): boolean => derivesFromInput(inner, facts, depth + 1);
  switch (expr.kind) {
    case "Name":
      return madeFrom(expr, facts).some((definition) => {
        if (definition.how === "param") {
          const fn = functionOf(expr);
          const first =
            fn?.kind === "FunctionDef" && fn.parent?.kind === "ClassDef" ? fn.params[0]?.name : null;
          return definition.name !== first && facts.valueOfDefinition(definition).what !== "number";
        }
        if (!definition.value || holdsIndices(definition)) return false;
        if (facts.gradMode(definition.node) === "off") return false;
        if (definition.how === "iterate")
          return !readsSelf(definition.value) && again(gone(definition, definition.value, facts));
        // `logits = []`, and what is put into it.
        if (definition.value.kind === "List" && definition.value.items.length === 0)
          return facts.file
            .callsNamed("append")
            .some(
              ({ args, func }) =>
                func.kind === "Attribute" &&
                func.value.kind === "Name" &&
                func.value.id === definition.name &&
                functionOf(func) === functionOf(definition.node) &&
                args[0] !== undefined &&
                again(args[0].value),
            );
        return (
          (definition.how === "assign" || definition.how === "augment" || definition.how === "unpack") &&
          again(definition.value)
        );
      });
    case "Attribute": {
      if (["shape", "device", "dtype", "data", "ndim"].includes(expr.attr)) return false;
      if (SIZES.test(expr.attr) || isIndices(expr)) return false;
      if (selfAttribute(expr) === null) return again(expr.value);
      const written = facts.value(expr).what === "module" ? null : writtenAbove(expr, facts);
      return written !== null && facts.gradMode(written) !== "off" && again(written);
    }
    case "Subscript":
      return !isIndices(expr) && (again(expr.value) || isEntry(expr, facts, again));
    case "List":
    case "Tuple":
      return expr.items.some(again);
    // `torch.stack([layer(x) for layer in self.layers])`
    case "Comp":
      return expr.value === null && again(expr.element);
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Unary":
      return expr.op !== "not" && again(expr.operand);
    case "IfExp":
      return again(expr.body) || again(expr.orelse);
    // `kwargs.get("data") or args[0]`
    case "Bool":
      return expr.op === "or" && expr.values.some(again);
    case "Call": {
      const name = facts.file.dotted(expr.func);
      // What it makes of a network is one.
      if (name === "torch.compile") return false;
      // `embedded_dropout(self.encoder, x)`, `checkpoint(self.block, x)`: a layer and what it is for.
      if (name !== null && expr.args.some(({ value }) => isOwnLayer(value, facts)))
        return expr.args.some((arg) => again(arg.value));
      if (name !== null) {
        if (name.startsWith("builtins.") || name.startsWith("math.")) return false;
        if (
          name.startsWith("torch.") &&
          /_like$|^torch\.(?:zeros|ones|full|arange|tensor|empty|argmax|argmin)$/.test(name)
        )
          return false;
        // These take functions, files or settings, and return no result of them.
        if (/^torch\.(?:jit\.|load$|save$|device$|Generator$|utils\.|distributed\.|optim\.)/.test(name))
          return false;
        return (
          // `shift_dim(x, 1, -1)` of this tree hands on what it is given; what counts or measures it does not.
          (name.startsWith("torch.") ||
            transformsTensors(name) ||
            (facts.guesses && mayHandOn(name)) ||
            (!COUNTS.test(last(name)) && isOfTree(expr, name, facts)) ||
            handsOn(name, facts) ||
            // `get_graph_feature(x)` of this file, by what it returns.
            (isGetter(name) &&
              (facts.file
                .once(returnsByName)
                .get(name)
                ?.some((one) => derivesFromInput(one, facts, depth + 5)) ??
                false))) &&
          expr.args.some((arg) => again(arg.value)) &&
          !/^(?:isnan|isinf|isfinite|eq|ne|lt|gt|le|ge)$/.test(last(name))
        );
      }
      // `gather = GatherFunction.apply`, of one's own step of the graph.
      const applied = expr.func.kind === "Name" ? facts.file.scopes.onlyValue(expr.func) : null;
      if (applied?.kind === "Attribute" && applied.attr === "apply")
        return expr.args.some((arg) => again(arg.value));
      // What is computed with weights has a graph, whatever else it is computed from.
      if (hasWeights(expr.func, facts)) return expr.args.length > 0;
      // A layer of the module, or one of a list of them: its result has the graph of its input, and of its weights.
      if (
        (selfAttribute(expr.func) !== null &&
          (facts.value(expr.func).what === "module" ||
            facts.networks.is(expr.func) ||
            isHanded(expr.func, facts) ||
            isAdded(expr.func, facts) ||
            isTransform(expr.func, facts))) ||
        // `self.transformer.drop(x)`
        (expr.func.kind === "Attribute" && isOwnLayer(expr.func.value, facts)) ||
        // `self.layers[0](x)`
        (expr.func.kind === "Subscript" &&
          (facts.value(expr.func).what === "module" ||
            (isListedLayer(expr.func) && isOfModule(expr, facts)))) ||
        // `self(x)` is the forward.
        (expr.func.kind === "Name" && (expr.func.id === "self" || isLayerOfLoop(expr.func, facts)))
      )
        return (
          expr.args.some((arg) => {
            // Whatever a getter makes of the input, the layer's weights have a graph.
            const got = gotten(arg.value, facts);
            return got ? got.args.some(({ value }) => again(value)) : again(arg.value);
          }) || isTrainedPart(expr, facts)
        );
      // A method of the class, `self.forward_once(x)`.
      const own = selfAttribute(expr.func) === null ? null : callTarget(expr, facts.file);
      const results = own === null ? undefined : resultsOf(own, facts);
      if (results) return expr.args.some((arg) => again(arg.value)) && results.some(again);
      if (expr.func.kind !== "Attribute") return false;
      if (CUTS.has(expr.func.attr) || expr.func.attr.startsWith("new_") || SIZES.test(expr.func.attr))
        return false;
      return (
        again(expr.func.value) ||
        // `self.mean.lerp(x.mean(), 0.1)` mixes the two.
        (/^(?:lerp|add|sub|mul|div|where|maximum|minimum|addcmul)$/.test(expr.func.attr) &&
          expr.args.some((arg) => again(arg.value)))
      );
    }
    default:
      return false;
  }
}

/** `fancy_attention(h)` of whatever module: what is called by no library's name, and counts or measures nothing. */
function mayHandOn(name: string): boolean {
  return (
    !COUNTS.test(last(name)) && !/^(?:numpy|scipy|sklearn|os|json|time|copy|logging|random)\./.test(name)
  );
}

/**
 * What a layer gave `self.hidden` last in this very call: `self.hidden, self.cell = self.rnn(x, (self.hidden, self.cell))`. What
 * is computed otherwise may be made of numbers alone.
 */
function writtenAbove(expr: Expr, facts: Facts): Expr | null {
  const { file } = facts;
  const cls = classOf(expr);
  const fn = functionOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(selfAttribute(expr)!)?.writes ?? []) : [];
  let found: Expr | null = null;
  for (const { in: method, target, value } of writes)
    if (method === fn && target.end < expr.start) {
      const given = value ?? unpackedFrom(target);
      // What it is given on the right was there before.
      if (given && given.end < expr.start && (!found || found.start < given.start)) found = given;
    }
  return found && isComputedByLayer(found, facts) ? found : null;
}

/** `self.net(x)`, and the mean, the sum or a part of what that gave: `torch.mean(terms)`. */
function isComputedByLayer(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => isComputedByLayer(inner, facts, depth + 1);
  switch (expr.kind) {
    case "Name":
      return facts.file.scopes
        .reaching(expr)
        .some(({ how, value }) => (how === "assign" || how === "unpack") && value !== null && again(value));
    case "Binary":
      return again(expr.left) || again(expr.right);
    case "Subscript":
      return again(expr.value);
    // `self.total = self.fit + 0.1 * self.penalty`, each of which was.
    case "Attribute":
      return selfAttribute(expr) !== null && writtenAbove(expr, facts) !== null;
    case "Call":
      if (isOfLayer(expr, facts)) return true;
      if (/^torch\.(?:mean|sum|abs|square|sqrt|log|exp)$/.test(facts.file.dotted(expr.func) ?? ""))
        return expr.args[0] !== undefined && again(expr.args[0].value);
      return (
        expr.func.kind === "Attribute" &&
        /^(?:mean|sum|abs|square|sqrt|log|exp|squeeze|float)$/.test(expr.func.attr) &&
        again(expr.func.value)
      );
    default:
      return false;
  }
}

function isOfLayer({ func }: Call, facts: Facts): boolean {
  return (
    (facts.file.dotted(func) ?? "").startsWith("torch.nn.functional.") ||
    (selfAttribute(func) !== null && (facts.value(func).what === "module" || facts.networks.is(func)))
  );
}

/** `parts["loss"]` of `parts = self.losses(x, y)`, a method of the class that returns a dict written down: what stands there under the key. */
function isEntry({ value, index }: Subscript, facts: Facts, derives: (expr: Expr) => boolean): boolean {
  const made = value.kind === "Name" ? madeOnce(value, facts) : value;
  if (index.kind !== "Str" || made?.kind !== "Call" || selfAttribute(made.func) === null) return false;
  const own = callTarget(made, facts.file);
  const results = own === null ? undefined : resultsOf(own, facts);
  return (
    made.args.some((arg) => derives(arg.value)) &&
    (results ?? []).some(
      (one) =>
        one.kind === "Dict" && one.values.some((entry, at) => isKey(one.keys[at], index) && derives(entry)),
    )
  );
}

function isKey(key: Expr | null | undefined, { value }: Str): boolean {
  return key?.kind === "Str" && value !== null && key.value === value;
}

/** `get_graph_feature`: many of those that are called so look something up, some compute. */
function isGetter(name: string): boolean {
  const word = last(name);
  return word.startsWith("get_") && !COUNTS.test(word.slice(4));
}

/** `def sent(batch): return batch[0].cuda()`, of this file: whatever it is called, it hands on what it is given. */
function handsOn(name: string, { file }: Facts): boolean {
  const [one, ...more] = file.once(returnsByName).get(name) ?? [];
  if (!one || more.length > 0) return false;
  let at = moved(one);
  while (at.kind === "Subscript") at = moved(at.value);
  return at.kind === "Name" && at !== one && file.scopes.reaching(at).every(({ how }) => how === "param");
}

/** The call of a getter of this tree that an argument comes from. */
function gotten(expr: Expr, facts: Facts): Call | null {
  const value = expr.kind === "Name" ? (madeOnce(expr, facts) ?? expr) : expr;
  if (value.kind !== "Call") return null;
  const name = facts.file.dotted(value.func);
  return name !== null && isGetter(name) && isOfTree(value, name, facts) ? value : null;
}

/** What a name was last given, where that is one thing. */
function madeOnce(name: Name, { file }: Facts): Expr | null {
  const [one, ...more] = file.scopes.reaching(name);
  return one?.how === "assign" && more.length === 0 ? one.value : null;
}

/** What a method returns: one of the class itself, or one that it has from another class of this file. */
function resultsOf(own: string, { file, project }: Facts): readonly Expr[] | undefined {
  const returns = file.once(returnsByName);
  return returns.get(own) ?? returns.get(project.aliases.get(own) ?? "");
}

/** What reaches a name, and through `x += self.positions` what `x` was before; what numbers are added to is a count as likely as not. */
function madeFrom(name: Name, facts: Facts): readonly Definition[] {
  const { scopes } = facts.file;
  const found = scopes.reaching(name);
  if (!found.some(({ how }) => how === "augment")) return found;
  const all = new Set(found);
  for (const { how, node, value } of all)
    if (
      how === "augment" &&
      node.kind === "Name" &&
      value &&
      // `scores /= math.sqrt(width)` counts nothing.
      (facts.value(value).what !== "number" || (node.parent as AugAssign).op === "/")
    )
      for (const before of scopes.reaching(node)) all.add(before);
  return [...all];
}

/** A function of this tree, or of this file's package. */
function isOfTree(call: Call, name: string, facts: Facts): boolean {
  return facts.callee(call) !== null || name.split(".")[0] === facts.file.module.split(".")[0];
}

/** `maps` of `enumerate(maps)`, and of `for one, map in zip(ones, maps)`: what a loop takes the name from. */
function gone({ node }: Definition, iterable: Expr, { file }: Facts): Expr {
  if (iterable.kind !== "Call") return iterable;
  const name = file.dotted(iterable.func);
  const at =
    name === "builtins.zip" && node.parent?.kind === "Tuple" ? node.parent.items.indexOf(node as Expr) : 0;
  return (
    (/^builtins\.(?:enumerate|zip)$/.test(name ?? "") ? iterable.args[at]?.value : undefined) ?? iterable
  );
}
