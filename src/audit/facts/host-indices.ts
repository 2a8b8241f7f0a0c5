import { argument, keyword, positional } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { isDataLoader } from "./loaders.ts";

/** `slice(first, last)` */
export const isSlice = (expr: Expr, { file }: Facts): boolean =>
  expr.kind === "Call" && file.dotted(expr.func) === "builtins.slice";

/**
 * A list or an array of places, or a tensor on the host: what a device tensor is indexed by has to be copied to it first.
 */
export function isHostData(expr: Expr, facts: Facts, depth = 0): boolean {
  if (expr.kind === "List")
    return expr.items.length > 0 && expr.items.every((item) => facts.value(item).what === "number");
  // `[0] * n`
  if (expr.kind === "Binary" && expr.op === "*" && expr.left.kind === "List")
    return isHostData(expr.left, facts, depth + 1);
  // `list(range(n, 2 * n)) + list(range(n))`
  if (expr.kind === "Binary" && expr.op === "+" && isHostList(expr.left, facts, depth + 1))
    return isHostList(expr.right, facts, depth + 1);
  // `rows - 1`, `starts[:, None] + np.arange(length)`, `offset + order`
  if (expr.kind === "Binary" && /^(?:[-+*%]|\/\/)$/.test(expr.op))
    return (
      isShiftedArray(expr.left, expr.right, facts, depth) ||
      isShiftedArray(expr.right, expr.left, facts, depth)
    );
  // `[slice(first, first + n) for …]`: a view of the tensor, with no place to copy.
  if (expr.kind === "Comp")
    return (
      expr.value === null && !isSlice(expr.element, facts) && facts.value(expr.element).what !== "tensor"
    );
  // `np.random.rand(n) > 0.5`
  if (expr.kind === "Compare") return isHostArray(expr.left, facts, depth + 1);
  if (expr.kind === "Unary") return isHostData(expr.operand, facts, depth + 1);
  // One entry of a list, or of a row of numbers, is a number.
  if (expr.kind === "Subscript")
    return (
      !(expr.index.kind === "Num" && isRow(expr.value, facts)) &&
      (isGroups(expr.value, facts) ||
        (isHostData(expr.value, facts, depth + 1) &&
          (expr.index.kind === "Slice" || !isFilledList(expr.value, facts, depth + 1))))
    );
  if (depth === 0 && selfAttribute(expr) !== null)
    return isOwnHostData(expr, facts) || isHandedByMethod(expr, facts);
  if (expr.kind === "Call" && (isDrawn(expr, facts) || isReadBack(expr, facts))) return true;
  if (expr.kind === "Call" && depth === 0 && isHandedByMethod(expr, facts)) return true;
  // `order[::-1].copy()`, `kept.cpu().numpy().nonzero()[0]`
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:copy|astype|flatten|ravel|reshape|squeeze|transpose|repeat|clip|nonzero|argsort|argpartition)$/.test(
      expr.func.attr,
    ) &&
    facts.file.dotted(expr.func) === null
  )
    return depth < 4 && isHostArray(expr.func.value, facts, depth + 1);
  // `torch.randperm(n)` makes them on the host too, unless it is told where.
  if (
    expr.kind === "Call" &&
    /^torch\.(?:randperm|arange|randint|tensor|as_tensor|from_numpy|LongTensor)$/.test(
      facts.file.dotted(expr.func) ?? "",
    )
  ) {
    const { what, device } = facts.value(expr);
    return what === "tensor" && device === "cpu";
  }
  // `shuffle(np.arange(n))` of another file
  if (expr.kind === "Call" && depth < DEEPEST && expr.args.length === 1 && REORDERS.test(lastWord(expr.func)))
    return isHostArray(expr.args[0]!.value, facts, depth + 1);
  // `np.remainder(rows, n)`, `np.minimum(starts + 1, last)`
  if (expr.kind === "Call" && ELEMENTWISE.test(facts.file.dotted(expr.func) ?? ""))
    return expr.args
      .slice(0, 2)
      .some(({ name, value }) => name === null && isHostArray(value, facts, depth + 1));
  if (expr.kind === "Call")
    return (
      !isOneNumber(expr, facts) &&
      /^(?:numpy\.(?:array|asarray|arange|where|(?:flat)?nonzero|argwhere|arg(?:sort|partition)|concatenate|[hv]?stack|column_stack|append|delete|cumsum|zeros|ones|full|linspace|repeat|tile|unique|setdiff1d|intersect1d|union1d|random\.\w+)|random\.(?:sample|choices)|builtins\.(?:list|sorted|range))$/.test(
        facts.file.dotted(expr.func) ?? "",
      )
    );
  if (expr.kind !== "Name" || depth > DEEPEST) return false;
  if (isFilledList(expr, facts, depth)) return true;
  const definitions = facts.file.scopes.reaching(expr);
  if (definitions.some(({ how }) => how === "augment") || definitions.length > 1)
    return definitions.every((one) => isArrayAgain(one, facts, depth));
  // `order[i * n : (i + 1) * n]`, in a step that is handed the order.
  if (depth > 0 && definitions.length === 1 && definitions[0]!.how === "param") {
    const given = handedIn(definitions[0]!, facts.file, true);
    return given.length > 0 && given.every((one) => isHostArray(one, facts, depth + 1));
  }
  return (
    definitions.length === 1 &&
    definitions[0]!.value !== null &&
    (definitions[0]!.how === "assign"
      ? isHostData(definitions[0]!.value, facts, depth + 1)
      : definitions[0]!.how === "unpack"
        ? isPairOfArrays(definitions[0]!.value, facts)
        : definitions[0]!.how === "iterate" &&
          (isListOfIndices(definitions[0]!.value, definitions[0]!.index, facts) ||
            isOneOfGroups(definitions[0]!, facts)))
  );
}

/** How far a value is followed through names and what these are computed of. */
const DEEPEST = 6;

/** What NumPy computes of each place of an array. */
const ELEMENTWISE =
  /^numpy\.(?:remainder|mod|fmod|add|subtract|multiply|floor_divide|minimum|maximum|clip|roll|flip|sort|cumsum|reshape|ravel|squeeze|take)$/;

/** `rows += offset` of an array; `rows = np.random.permutation(n)` on one way, and another array on the other. */
function isArrayAgain({ how, node, value }: Definition, facts: Facts, depth: number): boolean {
  if (how === "assign") return value !== null && isHostArray(value, facts, depth + 1);
  if (how !== "augment" || node.kind !== "Name" || depth >= DEEPEST) return false;
  const before = facts.file.scopes.reaching(node).filter((one) => one.node !== node);
  return before.length > 0 && before.every((one) => isArrayAgain(one, facts, depth + 1));
}

/** `np.unique(labels)`, `np.random.permutation(n)`: an array of one axis. */
function isRow(expr: Expr, { file }: Facts): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  // `list(rows.keys())[0]`: one of whatever that is, and be it a name.
  if (made?.kind === "Call" && /^builtins\.(?:list|sorted)$/.test(file.dotted(made.func) ?? "")) return true;
  return (
    made?.kind === "Call" &&
    /^numpy\.(?:unique|flatnonzero|setdiff1d|intersect1d|union1d|arange|random\.permutation)$/.test(
      file.dotted(made.func) ?? "",
    ) &&
    made.args.length === (/setdiff|intersect|union/.test(lastWord(made.func)) ? 2 : 1)
  );
}

/** `np.random.randint(n)`, `np.random.choice(n)`, `np.random.rand()`, without a size. */
function isOneNumber(call: Call, { file }: Facts): boolean {
  const [, drawn] = /^numpy\.random\.(\w+)$/.exec(file.dotted(call.func) ?? "") ?? [];
  if (drawn === undefined || call.args.some(({ name, star }) => name === "size" || star > 0)) return false;
  const bounds = { randint: 2, choice: 1, rand: 0, random: 0, random_sample: 0, uniform: 2 }[drawn];
  return bounds !== undefined && call.args.length <= bounds;
}

/** An array, beside what leaves it one: a number, or another array. */
function isShiftedArray(rows: Expr, by: Expr, facts: Facts, depth: number): boolean {
  // `order[0]` is a number, whatever is added to it.
  const isPosition = rows.kind === "Subscript" && !/^(?:Slice|Tuple)$/.test(rows.index.kind);
  return (
    depth < DEEPEST &&
    !isPosition &&
    isHostArray(rows, facts, depth + 1) &&
    (isBesideArray(rows, by, facts) || isHostArray(by, facts, depth + 1))
  );
}

/** A number; beside what is no tensor of torch's, all that is not known to be one: nothing on a device can be computed with it. */
function isBesideArray(rows: Expr, by: Expr, facts: Facts): boolean {
  const isTensor = (expr: Expr): boolean => /^(?:tensor|output)$/.test(facts.value(expr).what);
  return facts.value(by).what === "number" || !(isTensor(rows) || isTensor(by));
}

/** `self.keep = [0, 3, 5]` */
function isOwnHostData(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(
      ({ value }) =>
        value !== null &&
        (value.kind === "Name" ? isFilledList(value, facts, 1) : isHostData(value, facts, 1)),
    )
  );
}

/** `self.kept`, a property, or `self.kept()`: a method of the class, all of whose returns are lists or arrays. */
function isHandedByMethod(expr: Expr, facts: Facts): boolean {
  const called = expr.kind === "Call";
  const own = selfAttribute(called ? expr.func : expr);
  const cls = own === null ? null : classOf(expr);
  const method = cls ? methodsOf(cls).find(({ name }) => name === own) : undefined;
  if (!method || called === method.decorators.some((one) => lastWord(one).endsWith("property"))) return false;
  const returned = facts.file.all("Return").filter((one) => functionOf(one) === method);
  return (
    returned.length > 0 &&
    returned.every(({ value }) => value && (isOwnHostData(value, facts) || isHostData(value, facts, 1)))
  );
}

/** `rows = []`, then `rows.append(i)`, `rows.extend(range(n))` or `rows += [i]`, and numbers only. */
function isFilledList(expr: Expr, facts: Facts, depth: number): boolean {
  if (expr.kind !== "Name" || depth > 3) return false;
  const { scopes } = facts.file;
  const definitions = scopes.lookup(expr)?.definitions ?? [];
  const isEmpty = (value: Expr | null): boolean => value?.kind === "List" && value.items.length === 0;
  // Nearly all names are none.
  if (!definitions.every(({ how, value }) => how === "augment" || (how === "assign" && isEmpty(value))))
    return false;
  const isAdded = (added: Expr | null | undefined): boolean => !!added && isHostData(added, facts, depth + 1);
  const fills = definitions.flatMap((one) => [
    ...(one.how === "augment" ? [isAdded(one.value)] : []),
    ...scopes.uses(one).flatMap(({ parent }) => {
      const call = parent?.kind === "Attribute" ? parent.parent : null;
      if (
        parent?.kind !== "Attribute" ||
        call?.kind !== "Call" ||
        !/^(?:append|extend|insert)$/.test(parent.attr)
      )
        return [];
      const added = call.args.at(-1)?.value;
      return [parent.attr === "extend" ? isAdded(added) : !!added && facts.value(added).what === "number"];
    }),
  ]);
  return fills.length > 0 && fills.every(Boolean);
}

/** A parameter that every call in this file gives a list or an array: `loss_of(output, rows)`. */
export function isHostDataGiven(expr: Expr, facts: Facts): boolean {
  const all = expr.kind === "Name" ? facts.file.scopes.lookup(expr)?.definitions : undefined;
  if (all?.length !== 1 || all[0]!.how !== "param") return false;
  const given = handedIn(all[0]!, facts.file, true);
  return (
    given.some((one) => facts.everyStep(one) !== null) && given.every((one) => isHostData(one, facts, 1))
  );
}

/** A Python list of numbers, by its form: two of them make a longer one. */
function isHostList(expr: Expr, facts: Facts, depth: number): boolean {
  const isList =
    expr.kind === "List" ||
    expr.kind === "Comp" ||
    (expr.kind === "Binary" && expr.op === "+") ||
    (expr.kind === "Call" && /^builtins\.(?:list|sorted)$/.test(facts.file.dotted(expr.func) ?? ""));
  return isList && depth < 4 && isHostData(expr, facts, depth);
}

/** `for joints in GROUPS`, `for name, joints in self.groups.items()` */
function isOneOfGroups({ value, index }: Definition, facts: Facts): boolean {
  const over = value?.kind === "Call" && value.func.kind === "Attribute" ? value.func : null;
  const isValue = over?.attr === "items" ? index === 1 : over?.attr === "values" && index === null;
  return over
    ? isValue && isGroups(over.value, facts)
    : index === null && value !== null && isGroups(value, facts);
}

/** `GROUPS = [[0, 1], [2, 3]]`, `self.groups = {"arm": [0, 1], "leg": [2, 3]}`: each of them a list. */
function isGroups(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  const made =
    expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : writes.length === 1 ? writes[0]!.value : null;
  const held =
    made?.kind === "Dict" ? made.values : made?.kind === "List" || made?.kind === "Tuple" ? made.items : [];
  return held.length > 0 && held.every((one) => one.kind === "List" && isHostData(one, facts, 3));
}

/**
 * `for rows in np.array_split(order, n)`, `for rows in BatchSampler(…)`, `for rows in DataLoader(range(n), 64)`: each is an array, a
 * list, or a tensor on the host.
 */
function isListOfIndices(over: Expr, at: number | null, facts: Facts): boolean {
  const { file } = facts;
  const value = over.kind === "Name" ? file.scopes.onlyValue(over) : over;
  if (value?.kind !== "Call") return false;
  const name = file.dotted(value.func);
  const data = isDataLoader(name) && !keyword(value, "collate_fn") ? argument(value, "dataset", 0) : null;
  if (data) return at === null && isNumbers(data, facts);
  // `for step, rows in enumerate(…)`, `for rows in tqdm(…)`
  const inner = positional(value, 0);
  if (inner && name === "builtins.enumerate") return at === 1 && isListOfIndices(inner, null, facts);
  if (inner && /(?:^|\.)tqdm(?:\.|$)/.test(name ?? "")) return isListOfIndices(inner, at, facts);
  if (at !== null) return false;
  return (
    /^(?:numpy\.(?:array_)?split|torch\.utils\.data\.(?:sampler\.)?BatchSampler)$/.test(name ?? "") ||
    // `for rows in minibatch(order, batch_size=64)`, of a function that is handed an array and told of no device.
    (PARTS.test(lastWord(value.func)) &&
      inner !== null &&
      isHostArray(inner, facts, 1) &&
      !/device|cuda/.test(file.textOf(value)))
  );
}

/** What a function is called that hands out what it is given, piece by piece. */
const PARTS = /(?:^|_)(?:mini_?)?batch(?:es|ify)?$|(?:^|_)chunks?$/;

/** What one is called that hands it back in another order. */
const REORDERS = /^(?:shuffled?|permuted?)(?:_\w+)?$/;

/** `range(edges.size(0))`, `torch.arange(n)`, `list(range(n))`: what a loader hands out in batches as numbers of rows. */
function isNumbers(data: Expr, { file }: Facts): boolean {
  const made = data.kind === "Name" ? file.scopes.onlyValue(data) : data;
  if (made?.kind !== "Call") return false;
  const name = file.dotted(made.func);
  const inner = name === "builtins.list" ? positional(made, 0) : made;
  return (
    inner?.kind === "Call" &&
    /^(?:builtins\.range|(?:torch|numpy)\.arange)$/.test(file.dotted(inner.func) ?? "")
  );
}

/** `rows, columns = linear_sum_assignment(cost)` */
function isPairOfArrays(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Call" &&
    /^(?:scipy\.optimize\.linear_sum_assignment|numpy\.(?:where|nonzero|unravel_index))$/.test(
      file.dotted(expr.func) ?? "",
    )
  );
}

/** `scores.argsort().cpu().numpy()`, `best.tolist()` */
function isReadBack({ func, args }: Call, { file }: Facts): boolean {
  return (
    func.kind === "Attribute" &&
    args.length === 0 &&
    /^(?:numpy|tolist)$/.test(func.attr) &&
    file.dotted(func) === null
  );
}

/** `rng.permutation(n)` of a NumPy generator. */
function isDrawn({ func }: Call, facts: Facts): boolean {
  if (
    func.kind !== "Attribute" ||
    !/^(?:permutation|choice|integers|random|randint|permuted|uniform)$/.test(func.attr)
  )
    return false;
  const made = (value: Expr | null): boolean =>
    value?.kind === "Call" &&
    /^numpy\.random\.(?:default_rng|RandomState|Generator)$/.test(facts.file.dotted(value.func) ?? "");
  if (func.value.kind === "Name") {
    const definitions = facts.file.scopes.reaching(func.value);
    return definitions.length > 0 && definitions.every(({ value }) => made(value));
  }
  return made(func.value) || isOnlyMadeBy(func.value, facts.file, made);
}

function isHostArray(expr: Expr, facts: Facts, depth: number): boolean {
  return expr.kind !== "List" && expr.kind !== "Comp" && isHostData(expr, facts, depth);
}
