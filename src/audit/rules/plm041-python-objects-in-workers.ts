import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Assign, Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { givenToWorkers, isIndexed, sharedClasses } from "../facts/worker-data.ts";
import { returnsByName, yieldsByName } from "../facts/returns.ts";
import { NAMES, isRecord, likelyDataset, likelyObjects, likelyWorkers } from "../facts/likely-data.ts";
import { callTarget } from "../facts/summary.ts";
import { PLAIN_ATTRIBUTES } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";
import { isFilledWithObjects, isObject, isObjects } from "../facts/python-objects.ts";

/** One says it; a class that keeps more of them is told of a few. */
const MOST = 3;

export const rule: Rule = {
  meta: {
    code: "PLM041",
    name: "python-objects-in-workers",
    summary: "A Dataset holds its examples as Python objects, and worker processes read them",
    severity: "note",
    fix: "none",
    patterns: [41],
  },
  *check(facts) {
    if (facts.guesses) return yield* guessed(facts);
    const shared = sharedClasses(facts.file);
    for (const cls of facts.file.all("ClassDef")) {
      const certain = facts.role(cls) === "dataset";
      // One without a base, where a loader that has workers is seen to be given it.
      if (!certain && !isIndexed(cls, facts.file)) continue;
      const name = facts.file.qualified(cls);
      // The loader may stand in another file.
      const instances =
        shared.get(name) ??
        (facts.project.functions.get(`${name}.__init__`)?.workers === true ||
        (certain &&
          (isMadeForOthers(cls, facts) ||
            isMadeForWorkers(cls, facts) ||
            isForWorkers(cls, facts) ||
            isOnlyOne(cls, facts)))
          ? []
          : null);
      if (!instances) continue;
      const objects = heldObjects(cls, facts);
      const handed = objects.length > 0 ? null : handedObjects(cls, instances, facts);
      for (const held of handed ? [handed] : objects.slice(0, MOST)) yield { at: held, message: COPIED };
    }
    for (const list of new Set(givenToWorkers(facts.file).flatMap((data) => listsOf(data, facts))))
      yield { at: list, message: COPIED };
  },
};

const COPIED =
  "Each worker is a copy of this process that shares its pages until they are written to, and reading a Python object writes its reference count: after an epoch every worker has a copy of all examples; keep them in an array, a tensor or an Arrow table";

/** What a dataset keeps one by one and is asked for by number, in a program that has workers. */
function* guessed(facts: Facts): Generator<Finding> {
  if (!likelyWorkers(facts) || JUDGES.test(facts.file.path)) return;
  // Where the file shows which of its classes workers read, the others are not among them.
  const shared = sharedClasses(facts.file);
  const shows = facts.file.all("ClassDef").some((cls) => shared.has(facts.file.qualified(cls)));
  for (const cls of facts.file.all("ClassDef")) {
    if (!likelyDataset(cls, facts) || (shows && !shared.has(facts.file.qualified(cls)))) continue;
    const kept = [...attributesOf(cls, facts.file)].flatMap(([attribute, { writes }]) => {
      if (FEW.test(attribute) || NAMES.test(attribute)) return [];
      // `self.tokens = self.tokens.tolist()`: whatever it was before.
      const listed = writes.find(
        ({ value }) =>
          value !== null &&
          selfAttribute(listedIn(value) ?? value) === attribute &&
          isListOfAll(attribute, value, cls, facts),
      );
      if (listed) return [listed.target];
      const table = writes.find(({ value }) => value !== null && isTable(value, facts.file));
      if (table && isReadByRows(attribute, cls, facts)) return [table.target];
      if (!isAskedByNumber(attribute, cls, facts)) return [];
      // `self.rows = torch.cat([self.rows, more])`: it is a tensor, whatever it began as.
      if (writes.some(({ value }) => value !== null && isOfLibrary(value, facts))) return [];
      // `[self.number_of[word] for word in text]` too: a list of numbers, one for each of all words.
      const held = writes.find(
        ({ value }) =>
          value !== null &&
          (likelyObjects(value, facts) ||
            (value.kind === "Comp" &&
              value.element.kind === "Subscript" &&
              selfAttribute(value.element.value) !== null &&
              isObjects(value, facts))),
      );
      const filled = held
        ? null
        : (filledInLoop(attribute, cls, facts) ??
          writes.map((one) => madeElsewhere(one, facts)).find((one) => one !== null));
      return held ? [held.target] : filled ? [filled] : [];
    });
    for (const at of kept.slice(0, MOST)) yield { at, message: COPIED };
  }
}

/**
 * `self.windows = self.make_windows(lengths)`, `self.windows, self.total = …` of the same, `list(windows(lengths))`: what a function of
 * this file hands back or yields, and where it does, as that is where it would be packed.
 */
function madeElsewhere(
  { target, value }: { readonly target: Expr; readonly value: Expr | null },
  facts: Facts,
): Node | null {
  const { file } = facts;
  const tuple = value === null && target.parent?.kind === "Tuple" ? target.parent : null;
  const whole = tuple?.parent?.kind === "Assign" ? tuple.parent.value : value;
  if (whole?.kind !== "Call") return null;
  const of = /^builtins\.(?:list|sorted|tuple)$/.test(file.dotted(whole.func) ?? "")
    ? whole.args[0]?.value
    : null;
  const made = of?.kind === "Call" ? of : whole;
  const name = callTarget(made, file);
  if (name === null) return null;
  const yielded = made === of && !tuple ? file.once(yieldsByName).get(name) : undefined;
  if (yielded) return yielded.length > 0 && yielded.every((one) => isRecord(one, facts)) ? whole : null;
  const returned = (file.once(returnsByName).get(name) ?? []).map((one) =>
    tuple ? (one.kind === "Tuple" ? one.items[tuple.items.indexOf(target)] : undefined) : one,
  );
  // What only opens a file is no place to pack anything, and who knows what was in it.
  const isMade = (one: Expr | undefined): boolean =>
    (one?.kind === "Name" || one?.kind === "Comp") && likelyObjects(one, facts);
  return returned.every(isMade) ? (returned.at(-1) ?? null) : null;
}

/** The array of `array.tolist()`, of which it makes an object for each number. */
function listedIn(value: Expr): Expr | null {
  return value.kind === "Call" && value.func.kind === "Attribute" && value.func.attr === "tolist"
    ? value.func.value
    : null;
}

/**
 * `self.tokens = array.tolist()`, read as `self.tokens[at]` or `self.tokens[at : at + self.size]` by the number that `__getitem__` is
 * asked for: as many as there are examples. It may be packed again after that.
 */
function isListOfAll(attribute: string | null, value: Expr, cls: ClassDef | null, facts: Facts): boolean {
  if (attribute === null || cls === null || listedIn(value) === null) return false;
  const reads = methodsOf(cls).find(({ name }) => name === "__getitem__");
  const at = reads?.params[1]?.name;
  if (!reads || at === undefined) return false;
  const writes = attributesOf(cls, facts.file).get(attribute)?.writes ?? [];
  if (
    writes.some((one) => one.value !== null && one.value.start > value.end && isOfLibrary(one.value, facts))
  )
    return false;
  let found = false;
  walk(reads, (node) => {
    if (
      node.kind === "Subscript" &&
      selfAttribute(node.value) === attribute &&
      namesIn(node.index).some(({ id }) => id === at)
    )
      found = true;
    return !found;
  });
  return found;
}

/** `pd.read_csv(path)`, also under a name, or without some of its rows. */
function isTable(value: Expr, file: PythonFile): boolean {
  const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
  if (made?.kind !== "Call") return false;
  if (
    /^pandas\.(?:read_(?:csv|json|table|excel|pickle|feather|parquet)|DataFrame)$/.test(
      file.dotted(made.func) ?? "",
    )
  )
    return true;
  return (
    made.func.kind === "Attribute" &&
    /^(?:reset_index|dropna|sample|drop|query|fillna|copy)$/.test(made.func.attr) &&
    isTable(made.func.value, file)
  );
}

/** `row = self.table.iloc[index]`, and texts of it are read: a column of texts is an array of Python strings. */
function isReadByRows(attribute: string, cls: ClassDef, { file }: Facts): boolean {
  const reads = methodsOf(cls).find(({ name }) => name === "__getitem__");
  const code = reads ? file.codeOf(reads) : "";
  return (
    new RegExp(`\\bself\\.${attribute}(?:\\[[^\\]]+\\])?\\.i?(?:loc|at)\\[`).test(code) &&
    /\bjoin\(|\bopen\(|imread\(|\w*load\w*\(|tokeni[sz]\w*\(|encode\(/.test(code)
  );
}

/** What evaluates goes through its examples once. */
const JUDGES = /(?:^|\/)(?:eval\w*|infer\w*|predict\w*|test\w*|demo\w*)(?:\/|\w*\.py$)/i;

function isOfLibrary(value: Expr, { file }: Facts): boolean {
  return (
    value.kind === "Call" &&
    (/^(?:numpy|torch|pandas|datasets|h5py|zarr|pyarrow|lmdb)\./.test(file.dotted(value.func) ?? "") ||
      // `self.rows = self.rows.to(device)`
      (value.func.kind === "Attribute" && /^(?:to|cuda|numpy|clone|reset_index)$/.test(value.func.attr)))
  );
}

/** `self.rows.append(…)`, `self.rows[name] = …` in a loop of the constructor, or of what it calls. */
function filledInLoop(attribute: string, cls: ClassDef, facts: Facts): Node | null {
  const { file } = facts;
  const isFilled = (node: Node, held: Expr, put: Expr): boolean =>
    selfAttribute(held) === attribute &&
    classOf(held) === cls &&
    loopsAround(node).length > 0 &&
    !READS.test((functionOf(node) as FunctionDef | null)?.name ?? "") &&
    isRecord(put, facts);
  const entry = file
    .all("Assign")
    .find(
      ({ targets: [target], value }) =>
        target?.kind === "Subscript" && target.index.kind !== "Num" && isFilled(target, target.value, value),
    );
  return (
    entry ??
    file
      .callsNamed("append", "extend")
      .find(
        (call) =>
          call.func.kind === "Attribute" &&
          call.args[0] &&
          isFilled(call, call.func.value, call.args[0].value),
      ) ??
    null
  );
}

/** `self.rows[index]`, where the examples are handed out, or a window of them, `self.tokens[at : at + length]`. */
function isAskedByNumber(attribute: string, cls: ClassDef, { file }: Facts): boolean {
  return file
    .all("Subscript")
    .some(
      ({ value, index }) =>
        selfAttribute(value) === attribute &&
        index.kind !== "Str" &&
        index.kind !== "Num" &&
        !(index.kind === "Slice" && (index.lower === null || index.upper === null)) &&
        classOf(value) === cls &&
        functionOf(value)?.kind === "FunctionDef" &&
        (functionOf(value) as FunctionDef).name !== "__init__",
    );
}

/** The lists of examples that a loader is given as they are: `DataLoader([data[i] for i in range(len(data))], num_workers=4)`. */
function listsOf(data: Expr, facts: Facts, depth = 0): readonly Expr[] {
  // A dict is no list, and a loader asks it for numbers.
  const isDict = data.kind === "Comp" && data.value !== null;
  if (isDict || depth > 3) return [];
  // Of a function of this file, what it hands back: it may go through objects to make something else.
  const name = data.kind === "Call" ? callTarget(data, facts.file) : null;
  const returned = name === null ? undefined : facts.file.once(returnsByName).get(name);
  if (returned) return returned.flatMap((value) => listsOf(value, facts, depth + 1));
  // `self.train_set = [self.encoded(row) for row in rows]` of a class that makes the loader.
  const own = selfAttribute(data);
  const cls = own === null ? null : classOf(data);
  if (cls)
    return (attributesOf(cls, facts.file).get(own!)?.writes ?? []).flatMap(({ value }) =>
      value ? listsOf(value, facts, depth + 1) : [],
    );
  if (data.kind !== "Name") return isObjects(data, facts) ? [data] : [];
  return facts.file.scopes.reaching(data).flatMap((one) => {
    if (one.how === "param")
      return handedIn(one, facts.file, true).flatMap((value) => listsOf(value, facts, depth + 1));
    if (one.how !== "assign" || !one.value) return [];
    // `pairs = []`, and it is filled below.
    if (one.value.kind === "List" && one.value.items.length === 0)
      return isFilledWithObjects(data, facts) ? [one.value] : [];
    return listsOf(one.value, facts, depth + 1);
  });
}

const LOADERS = /DataLoader$/;

/** A function of this file makes and returns it: the loader is another file's. */
function isMadeForOthers(cls: ClassDef, { file }: Facts): boolean {
  if (file.calls.matching(LOADERS).length > 0) return false;
  // `@register("mini-imagenet")`, for whoever asks the registry.
  if (cls.decorators.some((one) => /regist/i.test(file.textOf(one)))) return true;
  return file.callsNamed(cls.name).some((call) => {
    const fn = functionOf(call);
    return fn?.kind === "FunctionDef" && /data|load|split|__init__/i.test(fn.name);
  });
}

/** A function of this file makes it and hands it out, and a loader of another file has workers for what that gives. */
function isMadeForWorkers(cls: ClassDef, { file, project }: Facts): boolean {
  return file.callsNamed(cls.name).some((call) => {
    const fn = functionOf(call);
    return fn?.kind === "FunctionDef" && project.functions.get(file.qualified(fn))?.workers === true;
  });
}

/**
 * The loaders are other files', none of them is without workers, and there is no other dataset that they could be for. One by
 * which the class goes through other data, to make its own of them, is not for it.
 */
function isForWorkers(cls: ClassDef, { file, project }: Facts): boolean {
  return (
    project.working.has(file.module) && file.calls.matching(LOADERS).every((loader) => contains(cls, loader))
  );
}

/** The one dataset that the file has and makes, and a loader with workers beside it: whose else would they be? */
function isOnlyOne(cls: ClassDef, facts: Facts): boolean {
  const { file } = facts;
  return (
    file.callsNamed(cls.name).length > 0 &&
    file.all("ClassDef").every((one) => one === cls || facts.role(one) !== "dataset") &&
    file.calls.matching(LOADERS).some((call) => {
      const workers = keyword(call, "num_workers")?.value;
      return workers?.kind === "Num" && workers.text !== "0";
    })
  );
}

/** `Prompts([json.loads(line) for line in file])`, of a class that keeps what it is given. */
function handedObjects(cls: ClassDef, instances: readonly Call[], facts: Facts): Node | null {
  const init = methodsOf(cls).find((method) => method.name === "__init__");
  if (!init) return null;
  // Where the loader is another file's, those that this one makes.
  const made =
    instances.length > 0
      ? instances
      : facts.file
          .callsNamed(cls.name)
          .filter(({ func }) => facts.file.dotted(func) === facts.file.qualified(cls));
  for (const call of made)
    for (const [at, { name, star, value }] of call.args.entries()) {
      const param = name ?? init.params[at + 1]?.name;
      const kept = [...attributesOf(cls, facts.file)].flatMap(([attribute, { writes }]) =>
        writes.some(({ value: stored }) => {
          const whole = stored && wholeOf(stored);
          return whole?.kind === "Name" && whole.id === param;
        })
          ? [attribute]
          : [],
      );
      if (star !== 0 || kept.length === 0) continue;
      if (isObjects(value, facts) || (isFromPool(value, facts) && hasFields(kept, cls, facts))) return value;
    }
  return null;
}

/** `pool.map(parse, lines)`, also through a name or as `list(pool.imap(parse, lines))`: a list of what other processes sent back. */
function isFromPool(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const value = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  if (value?.kind !== "Call") return false;
  const [first] = value.args;
  if (/^(?:builtins\.list|tqdm\.(?:\w+\.)*tqdm)$/.test(file.dotted(value.func) ?? ""))
    return first !== undefined && isFromPool(first.value, facts);
  if (value.func.kind !== "Attribute" || !/^(?:star)?map$|^imap$/.test(value.func.attr)) return false;
  const pool = value.func.value;
  const [by] = pool.kind === "Name" ? file.scopes.reaching(pool) : [];
  return (
    value.args.length > 1 &&
    (/^(?:\w+_)?(?:pool|executor)$/.test(lastWord(pool)) ||
      (by?.value?.kind === "Call" && /(?:Pool|PoolExecutor)$/.test(file.dotted(by.value.func) ?? "")))
  );
}

/** `one = self.rows[at]`, and then `one.ids`: each of what is kept is an object with fields, and neither a tensor nor an array. */
function hasFields(kept: readonly string[], cls: ClassDef, { file }: Facts): boolean {
  const isOne = (expr: Expr | null): boolean =>
    expr?.kind === "Subscript" &&
    expr.index.kind !== "Slice" &&
    expr.index.kind !== "Str" &&
    kept.includes(selfAttribute(expr.value) ?? "");
  return file
    .all("Attribute")
    .some(
      ({ attr, value, parent, start }) =>
        contains(cls, value) &&
        !PLAIN_ATTRIBUTES.has(attr) &&
        !/^(?:T|mT|data|size|real|imag|values?|index)$/.test(attr) &&
        !(parent?.kind === "Call" && parent.func.start === start) &&
        isOne(value.kind === "Name" ? file.scopes.onlyValue(value) : value),
    );
}

/** What `records[rank::ranks]` is a part of. */
function wholeOf(part: Expr): Expr {
  return part.kind === "Subscript" && part.index.kind === "Slice" ? wholeOf(part.value) : part;
}

/** Where the constructor keeps lists or dicts of Python objects, one for each example. */
function heldObjects(cls: ClassDef, facts: Facts): readonly Node[] {
  const methods = methodsOf(cls);
  const init = methods.find((method) => method.name === "__init__");
  if (!init) return [];
  // `self.read()` of the constructor.
  const called = new Set(
    init.body.flatMap((one) =>
      one.kind === "ExprStmt" && one.value.kind === "Call" ? (selfAttribute(one.value.func) ?? []) : [],
    ),
  );
  const fillers = [init, ...methods.filter(({ name }) => called.has(name))];
  return fillers.flatMap((one) => heldBy(one, facts)).filter((held) => isReadLater(held, cls, facts));
}

/** Not the names of the classes, say, from which the constructor makes the examples: workers never touch these. */
function isReadLater(held: Node, cls: ClassDef, { file }: Facts): boolean {
  const kept = attributesIn(held);
  // One for each class or kind, however many examples there are.
  if (kept.length > 0 && kept.every((name) => FEW.test(name))) return false;
  // A base class that is not seen may read anything.
  if (kept.length === 0 || !file.all("FunctionDef").some((fn) => READS.test(fn.name) && isOf(fn, cls, file)))
    return true;
  return file.all("Attribute").some((one) => {
    if (!kept.includes(one.attr) || selfAttribute(one) === null) return false;
    const fn = functionOf(one);
    return (
      fn?.kind !== "FunctionDef" ||
      (fn.name !== "__init__" && !contains(fn, held) && !isOfConstructor(fn, file))
    );
  });
}

/** `self.scan()` stands in the constructor alone: what the method reads, no worker does. */
function isOfConstructor({ name }: FunctionDef, file: PythonFile): boolean {
  if (READS.test(name)) return false;
  const calls = file.all("Attribute").filter((one) => one.attr === name && selfAttribute(one) !== null);
  return (
    calls.length > 0 &&
    calls.every((one) => {
      const fn = functionOf(one);
      return fn?.kind === "FunctionDef" && fn.name === "__init__";
    })
  );
}

const FEW =
  /_weights$|^_*(?:(?:sub_?)?class(?:es)?(?:_(?:names?|ids?|dict|map|list|colou?rs?|to_\w+))?|categor(?:y|ies)\w*|transforms?|vocab|data_type|(?:label|cat|class|rel|tag|word|answer|char|ch|tok|token|spk|speaker|phone|phoneme)\w*(?:2|_to_)(?:i|ix|int|id|idx|ind|index|category)\w*|(?:i|ix|int|id|idx|ind|index)s?(?:2|_to_)\w+|[cis]to[cis])$/i;

const READS = /^__(?:getitem|getitems|iter)__$/;

/** A method of the class, or of one that it is made from in this file. */
function isOf(fn: FunctionDef, cls: ClassDef, file: PythonFile): boolean {
  const owner = fn.parent;
  return (
    owner === cls ||
    (owner?.kind === "ClassDef" && cls.args.some(({ value }) => file.dotted(value) === file.qualified(owner)))
  );
}

/** The attributes of self that are written there, or added to; none where that goes through another name. */
function attributesIn(held: Node): readonly string[] {
  let at: Expr | undefined;
  if (held.kind === "Assign") at = held.targets.find((target) => target.kind !== "Name");
  else if (held.kind === "AugAssign") at = held.target;
  else if (held.kind === "Call" && held.func.kind === "Attribute") at = held.func.value;
  if (at?.kind === "Tuple") return at.items.flatMap((item) => selfAttribute(item) ?? []);
  while (at?.kind === "Subscript") at = at.value;
  return [at ? selfAttribute(at) : null].filter((one) => one !== null);
}

/** `self.names = read()` and `self.names, self.labels = read(), scan()`: what is kept, one by one. */
function* keptBy({ targets, value }: Assign, file: PythonFile): Generator<Expr> {
  for (const target of targets)
    if (selfAttribute(target) !== null) yield value;
    else if (target.kind === "Tuple" && value.kind === "Tuple") {
      for (const [at, item] of target.items.entries())
        if (selfAttribute(item) !== null && value.items[at]) yield value.items[at];
    } else if (
      target.kind === "Tuple" &&
      target.items.every((item) => selfAttribute(item) !== null) &&
      // What was pickled side by side may be arrays.
      !(value.kind === "Call" && /pickle\.loads?$/i.test(file.dotted(value.func) ?? ""))
    )
      yield value;
}

function heldBy(init: FunctionDef, facts: Facts): readonly Node[] {
  const all: Node[] = [];
  walk(init, (node) => {
    let found: Node | null = null;
    if (
      node.kind === "Assign" &&
      ([...keptBy(node, facts.file)].some((value) => isObjects(value, facts)) ||
        isListOfAll(selfAttribute(node.targets[0]!), node.value, classOf(init), facts))
    )
      found = node;
    else if (
      node.kind === "Call" &&
      node.func.kind === "Attribute" &&
      /^(?:append|extend)$/.test(node.func.attr) &&
      isHeld(node.func.value, init, facts) &&
      functionOf(node) === init &&
      node.args.length === 1 &&
      // A list for each key, whatever is in it.
      ((node.func.attr === "append" && node.func.value.kind === "Subscript") ||
        (node.func.attr === "append" ? isObject : isObjects)(node.args[0]!.value, facts))
    )
      found = node;
    else if (
      node.kind === "AugAssign" &&
      node.op === "+" &&
      isHeld(node.target, init, facts) &&
      isObjects(node.value, facts)
    )
      found = node;
    else if (
      node.kind === "Assign" &&
      node.targets[0]?.kind === "Subscript" &&
      selfAttribute(node.targets[0].value) !== null &&
      loopsAround(node).length > 0 &&
      // `self.frames[name] = os.listdir(name)`: a list for each key.
      (isObject(node.value, facts) || isObjects(node.value, facts))
    )
      found = node;
    if (found) all.push(found);
    return found === null;
  });
  return all;
}

/** `self.items`, `self.by_id.setdefault(key, [])`, or a list that becomes one of them. */
function isHeld(expr: Expr, init: FunctionDef, facts: Facts): boolean {
  if (selfAttribute(expr) !== null) return true;
  if (expr.kind === "Subscript") return isHeld(expr.value, init, facts);
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      expr.func.attr === "setdefault" &&
      isHeld(expr.func.value, init, facts)
    );
  if (expr.kind !== "Name") return false;
  return facts.file
    .all("Assign")
    .some(
      (statement) =>
        init.start <= statement.start &&
        statement.end <= init.end &&
        [...keptBy(statement, facts.file)].some((value) => isMadeOf(value, expr.id)),
    );
}

/** The list itself, or `list(groups.values())`. */
function isMadeOf(value: Expr, id: string): boolean {
  if (value.kind === "Name") return value.id === id;
  if (value.kind !== "Call") return false;
  const inner = value.args[0]?.value ?? (value.func.kind === "Attribute" ? value.func.value : null);
  return inner !== null && isMadeOf(inner, id);
}
