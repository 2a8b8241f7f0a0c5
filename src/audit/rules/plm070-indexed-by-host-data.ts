import { argument, keyword, positional } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, Name, Node } from "../../python/tree.ts";
import { blockOf, classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import { handedIn } from "../facts/handed-in.ts";
import { attributesOf, isModuleRole, isOnlyMadeBy, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isDataLoader } from "../facts/loaders.ts";
import { isNetwork } from "../facts/networks.ts";
import { isUsedAsTensor } from "../facts/tensor-use.ts";
import { TENSOR_ONLY_METHODS } from "../facts/torch-names.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM070",
    name: "indexed-by-host-data",
    summary: "A device tensor is indexed by a Python list or NumPy array on every step: a copy each time",
    severity: "note",
    fix: "none",
    patterns: [70],
    hotOnly: true,
  },
  *check(facts) {
    const seen = new Set<unknown>();
    for (const subscript of facts.file.all("Subscript")) {
      const indices = subscript.index.kind === "Tuple" ? subscript.index.items : [subscript.index];
      const index =
        indices.find((one) => isHostData(one, facts)) ?? indices.find((one) => isHandedIn(one, facts));
      if (index && isOnDevice(subscript.value, facts) && isEveryStep(subscript, facts)) {
        // One index used on many tensors is one finding, also where it is `rows + 1` for some.
        let at = index;
        while (at.kind === "Binary") at = at.left;
        const made = at.kind === "Name" ? facts.file.scopes.reaching(at)[0] : index;
        if (seen.has(made)) continue;
        seen.add(made);
        yield {
          at: index,
          message:
            "The index is built on the host and copied to the device, with a wait, on every step; keep it there as a tensor, or use a slice",
        };
      }
    }
  },
};

/** What `map(lambda t: t[rows], parts)` runs, it runs as often as it is called. */
function isEveryStep(node: Node, facts: Facts): boolean {
  const fn = functionOf(node);
  return facts.everyStep(fn?.kind === "Lambda" ? fn : node) !== null;
}

/** Computed there, or the weight of a layer of a network that is: `model.items.weight`. */
function isOnDevice(expr: Expr, facts: Facts): boolean {
  if (facts.onAccelerator(expr) || isMovedAbove(expr, facts) || isThereByDefault(expr, facts)) return true;
  if (isSent(expr, facts) || isHandedFromDevice(expr, facts) || isOfSentDict(expr, facts)) return true;
  if (isOfForward(expr, facts) || isOfSentObject(expr, facts) || isOneOfSent(expr, facts)) return true;
  const weight = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (!facts.accelerator || weight?.kind !== "Attribute" || weight.attr !== "weight") return false;
  let root: Expr = weight.value;
  while (root.kind === "Attribute" && !isNetwork(root, facts)) root = root.value;
  return isNetwork(root, facts);
}

/**
 * `x.new_zeros(n)`, or what is used as only a tensor can be, in a method that a module's forward runs: where the module is, unless
 * somebody says otherwise.
 */
function isOfForward(expr: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  const cls = device === "unknown" && facts.accelerator ? classOf(expr) : null;
  return (
    cls !== null &&
    (what === "tensor" || (what === "unknown" && isTensorByUse(expr, facts))) &&
    isModuleRole(facts.role(cls)) &&
    /\bforward\b/.test(facts.hot(expr)?.why ?? "")
  );
}

/** `scores.softmax(-1)`, and `scores` beside it: nothing else has that method. A layer's `forward` may be given anything. */
function isTensorByUse(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      file.dotted(expr.func) === null &&
      (TENSOR_ONLY_METHODS.has(expr.func.attr) || /^(?:softmax|sigmoid|permute|relu)$/.test(expr.func.attr))
    );
  const made = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  // `self.fits(torch.rand(n))`: made on the host.
  const isOfHost = (one: Definition): boolean =>
    handedIn(one, file, true).some((given) => facts.value(given).device === "cpu");
  return made.length > 0 && made.every((one) => isUsedAsTensor(one, file) && !isOfHost(one));
}

/** `train(model, rows.to(device))`: a parameter that every call in this file gives what is on the device. */
function isHandedFromDevice(expr: Expr, facts: Facts): boolean {
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  if (one?.how !== "param" || more.length > 0) return false;
  const given = handedIn(one, facts.file, true);
  return given.length > 0 && given.every((value) => facts.onAccelerator(value) || isSent(value, facts));
}

/** `rows = splits["train"].to(device)`, of whatever can be sent there: what an array indexes is a tensor. */
function isSent(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (made?.kind !== "Call" || made.func.kind !== "Attribute") return false;
  if (made.func.attr === "cuda") return facts.file.dotted(made.func) === null;
  const device = made.func.attr === "to" ? argument(made, "device", 0) : null;
  return device !== null && facts.isAccelerator(facts.device(device));
}

/** `solver.timesteps`, after `solver = solver.to(device)`. */
function isOfSentObject(expr: Expr, facts: Facts): boolean {
  if (expr.kind !== "Attribute" || expr.value.kind !== "Name") return false;
  const made = facts.file.scopes.reaching(expr.value);
  return made.some(({ how, value }) => how === "assign" && value !== null && isSent(value, facts));
}

/** `data["rewards"]`, or a value of `data.items()`, of a dict of what is on the device. */
function isOfSentDict(expr: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  if (expr.kind === "Subscript") return isKey(expr.index, expr.value, facts) && isSentDict(expr.value, facts);
  const [one, ...more] = expr.kind === "Name" ? scopes.reaching(expr) : [];
  const over = one && more.length === 0 && one.how !== "param" ? one.value : null;
  if (over?.kind === "Subscript" && one!.how === "assign") return isOfSentDict(over, facts);
  return (
    one?.how === "iterate" &&
    over?.kind === "Call" &&
    over.func.kind === "Attribute" &&
    (over.func.attr === "values" || (over.func.attr === "items" && one.index === 1)) &&
    isSentDict(over.func.value, facts)
  );
}

/** `rows["gain"]`, and `rows[key]`, `for key in rows`. */
function isKey(index: Expr, dict: Expr, { file }: Facts): boolean {
  const [one, ...more] = index.kind === "Name" ? file.scopes.reaching(index) : [];
  if (one?.how !== "iterate" || more.length > 0 || !one.value) return index.kind === "Str";
  const [held, over] = [file.textOf(dict), file.textOf(one.value)];
  return over === held || over === `${held}.keys()`;
}

/** `{k: torch.as_tensor(v).to(device) for k, v in arrays.items()}`, or what a function makes that is told the device: `to_tensors(arrays, device)`. */
function isSentDict(dict: Expr, facts: Facts): boolean {
  const made = madeAs(dict, facts);
  return made.length > 0 && made.every((one) => isDictOfSent(one, dict, facts));
}

function isDictOfSent(made: Expr, dict: Expr, facts: Facts): boolean {
  if (made.kind === "Comp") return made.value !== null && isThere(made.value, facts);
  if (made.kind === "Dict") {
    const values = made.values.length > 0 ? made.values : putInto(dict, facts);
    return values.length > 0 && values.every((value) => isThere(value, facts));
  }
  return (
    made.kind === "Call" &&
    // What a class makes of it may keep its arrays on the host.
    /^[a-z_]/.test(lastWord(made.func)) &&
    made.args.some(({ value }) => isDevice(value, facts))
  );
}

/** What a name was given last, or all that the methods of a class give an attribute of its own. */
function madeAs(held: Expr, facts: Facts): readonly Expr[] {
  if (held.kind === "Name") return [lastValue(held, facts) ?? []].flat();
  const own = selfAttribute(held);
  const cls = own === null ? null : classOf(held);
  const writes = cls ? (attributesOf(cls, facts.file).get(own!)?.writes ?? []) : [];
  return writes.every(({ value }) => value !== null) ? writes.map(({ value }) => value!) : [];
}

/** `self.rows[key] = array.to(device)`, of a dict that began empty. */
function putInto(dict: Expr, { file }: Facts): readonly Expr[] {
  const [text, cls, fn] = [file.textOf(dict), classOf(dict), functionOf(dict)];
  return file
    .all("Assign")
    .flatMap(({ targets: [target], value }) =>
      target?.kind === "Subscript" &&
      file.textOf(target.value) === text &&
      (dict.kind === "Name" ? functionOf(target) === fn : classOf(target) === cls)
        ? [value]
        : [],
    );
}

/** `t` of `[t[rows] for t in (states, rewards)]` and of `map(lambda t: t[rows], kept)`: one of several that are on the device. */
function isOneOfSent(expr: Expr, facts: Facts, depth = 0): boolean {
  if (expr.kind !== "Name" || depth > 3) return false;
  const [one, ...more] = facts.file.scopes.reaching(expr);
  if (!one || more.length > 0) return false;
  if (one.how === "iterate") return one.index === null && isSentTogether(one.value, facts, depth);
  const of = one.how === "param" && one.node.parent?.kind === "Lambda" ? one.node.parent.parent : null;
  const call = of?.kind === "Arg" && of.parent?.kind === "Call" ? of.parent : null;
  return (
    call !== null &&
    /^(?:tree_)?map$/.test(lastWord(call.func)) &&
    isSentTogether(positional(call, 1), facts, depth)
  );
}

/** `(states, rewards)`, `tuple(t[kept] for t in data)`, `[part.to(device) for part in parts]`: each of them on the device, as far as is known. */
function isSentTogether(all: Expr | null, facts: Facts, depth: number): boolean {
  const held = all && (all.kind === "Name" || selfAttribute(all) !== null) ? madeAs(all, facts) : [];
  const [made, ...more] = held.length > 0 ? held : all ? [all] : [];
  if (!made || more.length > 0 || depth > 3) return false;
  if (made.kind === "Tuple" || made.kind === "List")
    return (
      made.items.some((item) => isThere(item, facts)) &&
      made.items.every((item) => facts.value(item).device !== "cpu")
    );
  if (made.kind === "Comp") {
    let from = made.element;
    while (from.kind === "Subscript" && from.index.kind !== "Str") from = from.value;
    return made.value === null && (isThere(made.element, facts) || isOneOfSent(from, facts, depth + 1));
  }
  const gathers =
    made.kind === "Call" && /^builtins\.(?:tuple|list)$/.test(facts.file.dotted(made.func) ?? "");
  return gathers && isSentTogether(positional(made, 0), facts, depth + 1);
}

/** Sent where it is made, also by a function in one line: `put = lambda t: torch.stack(t).to(device).detach()`. */
function isThere(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? lastValue(expr, facts) : expr;
  if (facts.onAccelerator(expr) || isSent(expr, facts) || isThereByDefault(expr, facts)) return true;
  if (!made) return false;
  const put =
    made.kind === "Call" && made.func.kind === "Name" ? facts.file.scopes.onlyValue(made.func) : null;
  let sent = put?.kind === "Lambda" ? put.body : made;
  while (
    sent.kind === "Call" &&
    sent.func.kind === "Attribute" &&
    /^(?:detach|float|contiguous|reshape|view|flatten)$/.test(sent.func.attr)
  )
    sent = sent.func.value;
  return isSent(sent, facts) || (sent !== expr && sent.kind === "Name" && isOfSentDict(sent, facts));
}

/** `self.rows = torch.zeros(n, 4)`, in a program that has called `torch.set_default_tensor_type("torch.cuda.FloatTensor")`. */
function isThereByDefault(expr: Expr, facts: Facts): boolean {
  const { file, project } = facts;
  if (!project.defaulting.has(file.module)) return false;
  const made = selfAttribute(expr) === null && expr.kind !== "Name" ? [expr] : madeAs(expr, facts);
  return (
    made.length > 0 &&
    made.every(
      (one) =>
        one.kind === "Call" &&
        /^torch\.(?:zeros|ones|empty|full|rand|randn|randint|arange|linspace|tensor)$/.test(
          file.dotted(one.func) ?? "",
        ) &&
        !/device|cpu/.test(file.textOf(one)),
    )
  );
}

/** What a name was given last, also for a comprehension, which is told of all that the function gives it: `data = sent(data, device)`. */
function lastValue(name: Name, { file }: Facts): Expr | null {
  // `data = tuple(t[kept] for t in data)` reads what was there before.
  const all = file.scopes.reaching(name).filter(({ value }) => !value || !contains(value, name));
  const one = all.at(-1);
  const statement = one && statementOf(one.node);
  const block = (statement && blockOf(statement)) ?? [];
  return one?.how === "assign" &&
    one.node.end < name.start &&
    (all.length === 1 || block.some((other) => contains(other, name)))
    ? one.value
    : null;
}

/** `device`, `args.device`: by its name, where it is not one of the host. */
function isDevice(expr: Expr, facts: Facts): boolean {
  return (
    (expr.kind === "Name" || expr.kind === "Attribute") &&
    /(?:^|_)device$/.test(lastWord(expr)) &&
    facts.isAccelerator(facts.device(expr))
  );
}

/** `self.levels = self.levels.to(device)` above, in the same method. */
function isMovedAbove(expr: Expr, facts: Facts): boolean {
  const own = facts.accelerator ? selfAttribute(expr) : null;
  const cls = own === null ? null : classOf(expr);
  const fn = functionOf(expr);
  return (
    cls !== null &&
    (attributesOf(cls, facts.file).get(own!)?.writes ?? []).some(
      ({ in: method, value }) =>
        method === fn &&
        value?.kind === "Call" &&
        value.end < expr.start &&
        value.func.kind === "Attribute" &&
        /^(?:to|cuda)$/.test(value.func.attr) &&
        facts.file.textOf(value.func.value) === facts.file.textOf(expr),
    )
  );
}

function isHostData(expr: Expr, facts: Facts, depth = 0): boolean {
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
  if (expr.kind === "Comp") return expr.value === null && facts.value(expr.element).what !== "tensor";
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
  if (expr.kind === "Call")
    return (
      !isOneNumber(expr, facts) &&
      /^(?:numpy\.(?:array|asarray|arange|where|(?:flat)?nonzero|argwhere|arg(?:sort|partition)|concatenate|hstack|repeat|tile|unique|setdiff1d|intersect1d|union1d|random\.\w+)|random\.(?:sample|choices)|builtins\.(?:list|sorted|range))$/.test(
        facts.file.dotted(expr.func) ?? "",
      )
    );
  if (expr.kind !== "Name" || depth > 3) return false;
  if (isFilledList(expr, facts, depth)) return true;
  const definitions = facts.file.scopes.reaching(expr);
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

/** `np.unique(labels)`, `np.random.permutation(n)`: an array of one axis. */
function isRow(expr: Expr, { file }: Facts): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
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
    depth < 4 &&
    !isPosition &&
    isHostArray(rows, facts, depth + 1) &&
    (facts.value(by).what === "number" || isHostArray(by, facts, depth + 1))
  );
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
function isHandedIn(expr: Expr, facts: Facts): boolean {
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
  return /^(?:numpy\.(?:array_)?split|torch\.utils\.data\.(?:sampler\.)?BatchSampler)$/.test(name ?? "");
}

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
