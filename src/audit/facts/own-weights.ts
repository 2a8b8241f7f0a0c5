import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { attributesOf, isOnlyMadeBy, selfAttribute } from "./classes.ts";

/** What a module's own weights are: of a layer, of a norm, a parameter by itself; and which of them are matrices, that are multiplied with. */

/**
 * The weight of a layer of its own, of a class of `nn.Linear`, or `nn.Parameter(torch.empty(vocabulary, width))`: norms keep
 * few numbers, and are computed so on purpose, as is the choice between experts.
 */
export function isMatrix(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const cls = classOf(expr);
  const own = selfAttribute(expr);
  if (own === null)
    return expr.kind === "Attribute" && isOnlyMadeBy(expr.value, file, (made) => isLarge(made, facts));
  if (/gate|rout|expert/i.test(`${cls?.name} ${own}`)) return false;
  return (
    (own === "weight" && isOfLayer(cls, facts)) ||
    isTakenFromLayer(expr, own, facts) ||
    isOnlyMadeBy(expr, file, (made) => {
      const [first] = filled(made, file).args;
      return first !== undefined && sizesOf(first.value, facts) > 1;
    })
  );
}

/** Given to a matrix product, or to a look-up, as it is, turned, or by a name that it has for that. */
export function isMultiplied(expr: Expr, file: PythonFile, depth = 0): boolean {
  const { parent } = expr;
  if (!parent || depth > 3) return false;
  const again = (one: Expr): boolean => isMultiplied(one, file, depth + 1);
  if (parent.kind === "Attribute" && /^(?:t|T|mT|transpose)$/.test(parent.attr))
    return again(parent.parent?.kind === "Call" ? parent.parent : parent);
  // Cast once more.
  if (parent.kind === "Attribute" && /^(?:to|type|float|half|bfloat16)$/.test(parent.attr))
    return parent.parent?.kind === "Call" && parent.parent.func === parent && again(parent.parent);
  if (parent.kind === "Binary") return parent.op === "@";
  if (parent.kind === "Assign") {
    const [target, ...more] = parent.targets;
    // `down, up = (layer.weight.half() for layer in (self.down, self.up))`
    const names = target?.kind === "Tuple" && parent.value.kind === "Comp" ? target.items : [target];
    return (
      more.length === 0 &&
      names.some((name) => {
        const named = name?.kind === "Name" ? file.scopes.definitionAt(name) : null;
        return named !== null && file.scopes.uses(named).some(again);
      })
    );
  }
  if (parent.kind === "Comp") return parent.element === expr && parent.value === null && again(parent);
  if (parent.kind === "Subscript")
    return parent.value === expr && parent.index.kind === "Num" && again(parent);
  const call = parent.kind === "Arg" ? parent.parent : null;
  const name = call?.kind === "Call" ? (file.dotted(call.func) ?? "") : "";
  if (/^torch\.(?:matmul|mm)$/.test(name)) return true;
  return (
    /^torch\.nn\.functional\.(?:linear|embedding)$/.test(name) && argument(call as Call, "weight", 1) === expr
  );
}

/** `nn.Linear(…)`, `nn.Embedding.from_pretrained(table)`, also of one that was just made: `nn.Embedding(n, d).from_pretrained(table)`. */
export function isLarge({ func }: Call, { file }: Facts): boolean {
  if (/^torch\.nn\.(?:Linear|Embedding(?:\.from_pretrained)?)$/.test(file.dotted(func) ?? "")) return true;
  return (
    func.kind === "Attribute" &&
    func.attr === "from_pretrained" &&
    func.value.kind === "Call" &&
    file.dotted(func.value.func) === "torch.nn.Embedding"
  );
}

const FILLS = /^torch\.(?:empty|zeros|ones|randn|rand)$/;

/** How many sizes of `torch.empty(1, length, width)`, or of `torch.randn(length, width) * 0.02`, are more than one. */
function sizesOf(expr: Expr, facts: Facts): number {
  if (expr.kind === "Binary") return Math.max(sizesOf(expr.left, facts), sizesOf(expr.right, facts));
  if (expr.kind !== "Call") return 0;
  const { args, func } = expr;
  if (!FILLS.test(facts.file.dotted(func) ?? ""))
    // `nn.init.xavier_uniform_(torch.empty(length, width))`
    return lastWord(func).endsWith("_") && args[0] ? sizesOf(args[0].value, facts) : 0;
  const given = args.filter(({ name }) => name === null || name === "size").map(({ value }) => value);
  const sizes = given.flatMap((one) => (one.kind === "Tuple" || one.kind === "List" ? one.items : [one]));
  return sizes.filter((one) => one.kind !== "Num" || one.text !== "1").length;
}

/** `self.table = nn.Parameter(…)`, `self.weight` of a class of `nn.Linear`, or `self.proj.weight` of a layer. */
export function isOwnWeight(expr: Expr, facts: Facts): boolean {
  // `weight = self.weight`, or by another branch a part of it.
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .some(({ how, value }) => how === "assign" && value?.kind === "Attribute" && isOwnWeight(value, facts));
  const own = selfAttribute(expr);
  if (own === "weight" && isOfLayer(classOf(expr), facts)) return true;
  if (facts.guesses && own !== null && /^(?:weight|bias)$/.test(own) && isOfNorm(classOf(expr), facts))
    return true;
  if (own !== null && isTakenFromLayer(expr, own, facts)) return true;
  if (own !== null) return isParameterOrNone(expr, own, facts);
  return (
    expr.kind === "Attribute" &&
    /^(?:weight|bias)$/.test(expr.attr) &&
    selfAttribute(expr.value) !== null &&
    (facts.value(expr.value).what === "module" ||
      isOnlyMadeBy(expr.value, facts.file, (made) => isLarge(made, facts)))
  );
}

/** `self.decoder = nn.Parameter(…)`, and None for a layer that does without: what is cast is there. */
function isParameterOrNone(expr: Expr, own: string, { file }: Facts): boolean {
  const cls = classOf(expr);
  const made = (cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [])
    .flatMap(({ value }) => (value?.kind === "IfExp" ? [value.body, value.orelse] : [value]))
    .filter((value) => value?.kind !== "Const" || value.value !== null);
  return (
    made.length > 0 &&
    made.every(
      (value) =>
        value?.kind === "Call" &&
        /^torch\.nn\.(?:parameter\.)?Parameter$/.test(file.dotted(filled(value, file).func) ?? ""),
    )
  );
}

/** What `nn.init.trunc_normal_(nn.Parameter(…), std=0.02)` fills, and hands back. */
function filled(made: Call, file: PythonFile): Call {
  const [first] = made.args;
  return /^torch\.nn\.init\.\w+_$/.test(file.dotted(made.func) ?? "") && first?.value.kind === "Call"
    ? first.value
    : made;
}

/** `self.kernel = conv.weight`, of a layer that `__init__` makes for that alone, or that it is given, for `F.linear(x, self.kernel)`. */
function isTakenFromLayer(expr: Expr, own: string, { file, guesses }: Facts): boolean {
  const cls = classOf(expr);
  const [write, ...more] = cls ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
  const taken = more.length === 0 ? write?.value : null;
  if (taken?.kind !== "Attribute" || !/^(?:weight|bias)$/.test(taken.attr) || taken.value.kind !== "Name")
    return false;
  const [given] = file.scopes.reaching(taken.value);
  if (given?.how === "param") return guesses && LAYER.test(given.name) && isMultiplied(expr, file);
  const layer = file.scopes.onlyValue(taken.value);
  return (
    layer?.kind === "Call" && /^torch\.nn\.(?:Linear|Embedding|Conv\w+)$/.test(file.dotted(layer.func) ?? "")
  );
}

/** What layers with a matrix are called. */
const LAYER = /(?:^|_)(?:head|lin(?:ear)?|proj(?:ection)?|embed\w*|fc|dense|layer|decoder)\d*$/;

/** `class CastedLinear(nn.Linear)`: it has the weight of that. */
function isOfLayer(cls: ClassDef | null, { file }: Facts): boolean {
  return (
    cls?.args.some(({ value }) =>
      /^torch\.nn\.(?:Linear|Embedding|Conv\w+)$/.test(file.dotted(value) ?? ""),
    ) === true
  );
}

/** Of a norm: it has few numbers, but a network has many norms. */
function isOfNorm(cls: ClassDef | null, { file }: Facts): boolean {
  return cls?.args.some(({ value }) => /^torch\.nn\.\w+Norm\w*$/.test(file.dotted(value) ?? "")) === true;
}
