import { argument, positional } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Dict, Expr, Name, Node } from "../../python/tree.ts";
import {
  ancestors,
  blockOf,
  classOf,
  contains,
  functionOf,
  lastWord,
  statementOf,
  walk,
} from "../../python/nodes.ts";
import { entry } from "../facts/arguments.ts";
import { entriesAnew } from "../facts/entries-anew.ts";
import { feedsBackward } from "../facts/behind-loss.ts";
import { handedIn } from "../facts/handed-in.ts";
import { attributesOf, isModuleRole, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isHostData, isHostDataGiven } from "../facts/host-indices.ts";
import { likelyPlaces } from "../facts/likely-arrays.ts";
import { isNetwork } from "../facts/networks.ts";
import { isUsedAsTensor } from "../facts/tensor-use.ts";
import { TENSOR_ONLY_METHODS } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import { ownUpdate } from "../facts/updates.ts";
import { computedPicks } from "../facts/indices.ts";
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
    for (const subscript of facts.file.once(computedPicks)) {
      const indices = subscript.index.kind === "Tuple" ? subscript.index.items : [subscript.index];
      const index =
        indices.find((one) => isHostData(one, facts) && !isOneOf(one, facts)) ??
        indices.find((one) => isHostDataGiven(one, facts)) ??
        (facts.guesses ? indices.find((one) => likelyPlaces(one, facts)) : undefined);
      if (index && isOnDevice(subscript.value, facts) && isEveryStep(subscript, index, facts)) {
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

/**
 * What `map(lambda t: t[rows], parts)` runs, it runs as often as it is called. Where there may be nothing to pick, `if len(rows):`
 * is asked before: no throttle, as there is something in nearly every batch.
 */
function isEveryStep(node: Node, index: Expr, facts: Facts): boolean {
  const fn = functionOf(node);
  const at = fn?.kind === "Lambda" ? fn : node;
  if (facts.guesses && (isSentThen(node, facts) || isAboveSteps(at, facts))) return false;
  if (facts.everyStep(at) !== null || isForParts(at, index, facts)) return true;
  // `if step % policy_freq == 0:`, of an update of its own: every second step is often enough.
  if (facts.guesses && ownUpdate(at, facts, facts.hot(at)?.within ?? null, true)) return true;
  const asked = ancestors(at).find((one) => one.kind === "If" || one.kind === "For" || one.kind === "While");
  return (
    asked?.kind === "If" &&
    asked.body.some((one) => contains(one, at)) &&
    isAnyOf(asked.test, index, facts) &&
    facts.everyStep(asked) !== null
  );
}

/**
 * `rows = order[i * n : (i + 1) * n]; part = data[rows]`, and below it a loop that steps through the moments of that part: each turn of
 * the loop around picks a batch, where one over epochs would pick all of them.
 */
function isForParts(node: Node, index: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const [turn] = loopsAround(node);
  if (turn?.kind !== "For" || facts.stepLoop(node) !== null) return false;
  if (![...facts.stepLoops].some((loop) => loopsAround(loop)[0] === turn && loop.start > node.end))
    return false;
  const [one, ...more] = index.kind === "Name" ? scopes.reaching(index) : [];
  const picked =
    index.kind === "Name" ? (more.length === 0 && one?.how === "assign" ? one.value : null) : index;
  const slice = picked?.kind === "Subscript" && picked.index.kind === "Slice" ? picked.index : null;
  const counted = turn.target.kind === "Tuple" ? turn.target.items : [turn.target];
  const ids = new Set(counted.flatMap((item) => (item.kind === "Name" ? [item.id] : [])));
  return (
    slice !== null &&
    [slice.lower, slice.upper].some((bound) => isCountedBy(bound, ids, turn, facts)) &&
    facts.frequency(node, turn) === "every"
  );
}

/** `i * n`, and `start` of `start = i * n` in the same turn. */
function isCountedBy(bound: Expr | null, ids: ReadonlySet<string>, turn: Node, { file }: Facts): boolean {
  let found = false;
  const look = (expr: Expr, depth: number): void =>
    walk(expr, (node) => {
      if (node.kind !== "Name" || found) return !found;
      const made = ids.has(node.id) || depth > 2 ? null : file.scopes.onlyValue(node);
      if (ids.has(node.id)) found = true;
      else if (made && contains(turn, made)) look(made, depth + 1);
      return !found;
    });
  if (bound) look(bound, 0);
  return found;
}

/** `rows[0]`: a number. `maps[stage]` of `maps = [info[f"map_{s}"] for s in stages]`: one of what somebody else has made. */
function isOneOf(index: Expr, { file, guesses }: Facts): boolean {
  if (index.kind !== "Subscript") return false;
  if (index.index.kind === "Num") return guesses;
  const made = index.value.kind === "Name" ? file.scopes.onlyValue(index.value) : null;
  return made?.kind === "Comp" && made.value === null && made.element.kind === "Subscript";
}

/** `kept[rows].to(device)`, `{"x": kept[rows]}` where `batch["x"].to(device)` stands elsewhere: not there yet. */
function isSentThen({ parent, start, end }: Node, { file }: Facts): boolean {
  if (parent?.kind === "Attribute") return /^(?:to|cuda)$/.test(parent.attr);
  const key =
    parent?.kind === "Dict"
      ? parent.keys[parent.values.findIndex((one) => one.start === start && one.end === end)]
      : null;
  return (
    key?.kind === "Str" &&
    /^\w+$/.test(key.value ?? "") &&
    new RegExp(`\\[["']${key.value}["']\\]\\.(?:to|cuda)\\(`).test(file.text)
  );
}

/** In a turn of the loop around those that take the steps. */
function isAboveSteps(node: Node, { stepLoops }: Facts): boolean {
  const [turn] = loopsAround(node);
  return turn !== undefined && [...stepLoops].some((loop) => loop !== turn && contains(turn, loop));
}

/** `rows`, `len(rows) > 0`, `rows.size > 0`, `rows.any()` */
function isAnyOf(test: Expr, index: Expr, { file }: Facts): boolean {
  const rows = index.kind === "Name" ? index.id : "";
  return new RegExp(
    String.raw`^(?:${rows}|len\(${rows}\)|${rows}\.(?:size|shape\[0\]|any\(\)))(?: (?:>|!=) 0| >= 1)?$`,
  ).test(rows === "" ? "-" : file.textOf(test));
}

/** Computed there, or the weight of a layer of a network that is: `model.items.weight`. */
function isOnDevice(expr: Expr, facts: Facts): boolean {
  if (facts.guesses) return !isLeftOnHost(expr, facts) && isLikelyThere(expr, facts);
  if (facts.onAccelerator(expr) || isMovedAbove(expr, facts) || isThereByDefault(expr, facts)) return true;
  if (isSent(expr, facts) || isHandedFromDevice(expr, facts) || isOfSentDict(expr, facts)) return true;
  if (isOfForward(expr, facts) || isOfSentObject(expr, facts) || isOneOfSent(expr, facts)) return true;
  if (isComputedOfOutput(expr, facts)) return true;
  const joined = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : null;
  if (joined && isJoined(joined, facts)) return true;
  const weight = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (!facts.accelerator || weight?.kind !== "Attribute" || weight.attr !== "weight") return false;
  let root: Expr = weight.value;
  while (root.kind === "Attribute" && !isNetwork(root, facts)) root = root.value;
  return isNetwork(root, facts);
}

/** `torch.from_numpy(rows)`, or a parameter that is given what is on the host. */
function isLeftOnHost(expr: Expr, facts: Facts): boolean {
  if (isOfArrays(expr, facts)) return true;
  const made = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return made.some(
    (one) =>
      (one.value?.kind === "Call" &&
        /^torch\.(?:from_numpy|load)$/.test(facts.file.dotted(one.value.func) ?? "")) ||
      handedIn(one, facts.file, true).some((given) => facts.value(given).device === "cpu"),
  );
}

/** `overlap(boxes, others).argmax(axis=1)` of `boxes = np.concatenate(…)`: NumPy's, by what it is computed of. */
function isOfArrays(expr: Expr, facts: Facts, depth = 0): boolean {
  const again = (inner: Expr): boolean => depth < 6 && isOfArrays(inner, facts, depth + 1);
  if (expr.kind === "Name") {
    const made = facts.file.scopes.reaching(expr);
    return (
      made.length > 0 && made.every(({ how, value }) => how === "assign" && value !== null && again(value))
    );
  }
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func);
  if (name?.startsWith("torch.") === true) return false;
  if (name?.startsWith("numpy.") === true) return true;
  return name === null && expr.func.kind === "Attribute"
    ? again(expr.func.value)
    : /^(?!.*(?:tensor|torch|device|cuda|gpu))[a-z_]/.test(lastWord(expr.func)) &&
        expr.args.some(({ value }) => again(value));
}

/** A tensor, as far as is known, of which nobody says that it is on the host. */
function isLikelyThere(expr: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  if (device === "cpu" || facts.project.accelerated.size === 0) return false;
  if (what === "tensor" || what === "output") return true;
  const made = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return what === "unknown" && made.some((one) => isUsedAsTensor(one, facts.file));
}

/** `points = project(mesh, camera)[..., :2]` of what a network gave, where the backward goes through it: a tensor, and there. */
function isComputedOfOutput(expr: Expr, facts: Facts): boolean {
  let made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : null;
  while (made?.kind === "Subscript" && made.index.kind !== "Str") made = made.value;
  return (
    made?.kind === "Call" &&
    made.args.some(({ value, star }) => star === 0 && facts.onAccelerator(value)) &&
    feedsBackward(made, facts)
  );
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
  return isHanded(expr, facts, (value) => facts.onAccelerator(value) || isSent(value, facts));
}

/** A parameter that every call in this file gives what holds. */
function isHanded(expr: Expr, { file }: Facts, holds: (given: Expr) => boolean): boolean {
  const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const given = one?.how === "param" && more.length === 0 ? handedIn(one, file, true) : [];
  return given.length > 0 && given.every(holds);
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
function isSentDict(dict: Expr, facts: Facts, depth = 0): boolean {
  const made = madeAs(dict, facts);
  if (made.length > 0 && made.every((one) => isDictOfSent(one, dict, facts))) return true;
  const anew = entriesAnew(dict, facts.file);
  if (anew.length > 0) return anew.every((value) => isThere(value, facts));
  return depth < 3 && isHanded(dict, facts, (one) => isSentDict(one, facts, depth + 1));
}

function isDictOfSent(made: Expr, dict: Expr, facts: Facts): boolean {
  if (made.kind === "Comp")
    return made.value !== null && (isThere(made.value, facts) || isJoined(made.value, facts));
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

/** `torch.cat([row[key] for row in rows])`, where `rows.append({"x": x, "gain": gain})` filled the list with what is on the device. */
function isJoined(made: Expr, facts: Facts): boolean {
  const { file } = facts;
  const all =
    made.kind === "Call" && /^torch\.(?:cat|concat|concatenate|stack)$/.test(file.dotted(made.func) ?? "")
      ? positional(made, 0)
      : null;
  const part = all?.kind === "Comp" && all.value === null ? all.element : null;
  if (part?.kind !== "Subscript" || part.value.kind !== "Name") return false;
  const [row, ...more] = file.scopes.reaching(part.value);
  const rows = row?.how === "iterate" && row.index === null && more.length === 0 ? row.value : null;
  const dicts = rows ? dictsIn(rows, facts) : [];
  const { index } = part;
  const key = index.kind === "Str" ? index.value : null;
  const held = dicts.flatMap((dict) => (key === null ? dict.values : (entry(dict, key) ?? [])));
  return (
    (key !== null || index.kind === "Name") &&
    held.some((value) => isThere(value, facts)) &&
    held.every((value) => facts.value(value).device !== "cpu")
  );
}

/** All that a list of this function is filled with, where that is dicts. */
function dictsIn(rows: Expr, { file }: Facts): readonly Dict[] {
  const [text, fn] = [file.textOf(rows), functionOf(rows)];
  const added = file
    .callsNamed("append")
    .filter(
      ({ func }) => func.kind === "Attribute" && file.textOf(func.value) === text && functionOf(func) === fn,
    )
    .map((call) => positional(call, 0));
  return added.every((one): one is Dict => one?.kind === "Dict") ? added : [];
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
  // Handed in, also by another file.
  if (made === all && made.kind === "Name" && facts.onAccelerator(made)) return true;
  if (made === all && isHanded(made, facts, (one) => isSentTogether(one, facts, depth + 1))) return true;
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
