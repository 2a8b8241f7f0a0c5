import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type {
  Assign,
  Call,
  ClassDef,
  Clause,
  Comp,
  Expr,
  FunctionDef,
  Name,
  Node,
} from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { givenToWorkers, isIndexed, sharedClasses } from "../facts/worker-data.ts";
import { returnsByName, yieldsByName } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

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

/** The lists of examples that a loader is given as they are: `DataLoader([data[i] for i in range(len(data))], num_workers=4)`. */
function listsOf(data: Expr, facts: Facts, depth = 0): readonly Expr[] {
  // A dict is no list, and a loader asks it for numbers.
  const isDict = data.kind === "Comp" && data.value !== null;
  if (isDict || depth > 3) return [];
  // Of a function of this file, what it hands back: it may go through objects to make something else.
  const name = data.kind === "Call" ? callTarget(data, facts.file) : null;
  const returned = name === null ? undefined : facts.file.once(returnsByName).get(name);
  if (returned) return returned.flatMap((value) => listsOf(value, facts, depth + 1));
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
  for (const call of instances)
    for (const [at, { name, star, value }] of call.args.entries()) {
      const param = name ?? init.params[at + 1]?.name;
      const kept = [...attributesOf(cls, facts.file).values()].some(({ writes }) =>
        writes.some(({ value: stored }) => {
          const whole = stored && wholeOf(stored);
          return whole?.kind === "Name" && whole.id === param;
        }),
      );
      if (star === 0 && kept && isObjects(value, facts)) return value;
    }
  return null;
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
  /^_*(?:(?:sub_?)?class(?:es)?(?:_(?:names?|ids?|dict|map|list|colou?rs?|to_\w+))?|categor(?:y|ies)\w*|transforms?|vocab|data_type|(?:label|cat|class|rel|tag|word|answer|char|ch|tok|token|spk|speaker|phone|phoneme)\w*(?:2|_to_)(?:i|ix|int|id|idx|ind|index|category)\w*|(?:i|ix|int|id|idx|ind|index)s?(?:2|_to_)\w+|[cis]to[cis])$/i;

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
    if (node.kind === "Assign" && [...keptBy(node, facts.file)].some((value) => isObjects(value, facts)))
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
      isObject(node.value, facts)
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

const READERS =
  /^(?:json|pickle|cPickle|yaml|orjson|ujson)\.loads?$|^yaml\.(?:safe|full)_load$|^csv\.(?:reader|DictReader)$/;

/** What others call a function of theirs that reads a list of examples: `load_jsonl`, `read_lines`, `load_filepaths_and_text`. */
const READS_LIST =
  /^_*(?:jload|(?:jsonl?|json_?lines)_?load(?:er)?|(?:load|read|parse|get)_(?:\w+_)?(?:jsonl?|jsonlines|lines|csv|tsv|pickle|pkl|metadata|manifest|file_?lists?|annotations|records|examples|captions|(?:file|audio|image|img)_?paths(?:_and_\w+)?))$/;

/** What parses one file into a tree: an object for each of its elements. */
const TREES =
  /^(?:xml\.etree\.c?ElementTree|lxml\.etree|defusedxml\.ElementTree)\.(?:parse|fromstring|XML)$|^xml\.dom\.minidom\.parse|^xmltodict\.parse$|^bs4\.BeautifulSoup$|^tomllib?\.loads?$/;

/** `[json.loads(line) for line in file]`, `file.readlines()`, `pickle.load(file)`, `list(csv.reader(file))`. */
function isObjects(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    if (value?.kind === "List" && value.items.length === 0) return isFilledWithObjects(expr, facts);
    return value !== null && isObjects(value, facts, depth + 1);
  }
  // A part of what was read.
  if (expr.kind === "Subscript") return isObjects(expr.value, facts, depth + 1);
  // `glob("*.jpg") + glob("*.png")`, `[*glob("*.jpg"), *glob("*.png")]`
  if (expr.kind === "Binary")
    return expr.op === "+" && [expr.left, expr.right].some((side) => isObjects(side, facts, depth + 1));
  if (expr.kind === "List")
    return expr.items.some((item) => item.kind === "Starred" && isObjects(item.value, facts, depth + 1));
  if (expr.kind === "Comp")
    return expr.value !== null || isObject(expr.element, facts) || areExamples(expr, facts);
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  if (READERS.test(name) || /^(?:glob\.i?glob|os\.listdir)$/.test(name)) return true;
  if (name === "builtins.zip")
    return isGoneThrough(expr) || expr.args.some(({ value }) => isObjects(value, facts, depth + 1));
  // A function of this file that collects them.
  const helper = facts.file.functionNamed(name);
  if (helper) return collects(helper, facts, depth + 1);
  // `self.items = self.scan()`
  const own = selfAttribute(expr.func);
  const method = own === null ? undefined : methodsOf(classOf(expr)!).find((one) => one.name === own);
  if (method) return collects(method, facts, depth + 1);
  // Those of other files go by their names.
  if (READS_LIST.test(last(name)) && !/^(?:pandas|numpy|torch)\./.test(name)) return true;
  if (isTokenized(expr, facts)) return true;
  // `list(map(parse, lines))`
  if (name === "builtins.map")
    return expr.args.slice(1).some(({ value }) => areMany(value, facts, depth + 1));
  // `sum([json.load(open(part)) for part in parts], [])`
  const parts = name === "builtins.sum" ? expr.args[0]?.value : null;
  if (parts) return parts.kind === "Comp" && isObjects(parts.element, facts, depth + 1);
  if (/^(?:builtins\.(?:list|sorted|tuple)|collections\.deque)$/.test(name))
    return expr.args.some(
      ({ value }) =>
        areMany(value, facts, depth + 1) ||
        isRead(value, facts) ||
        yieldsObjects(value, facts) ||
        isEndOfMany(value, facts) ||
        isData(value, facts) ||
        (value.kind === "Subscript" && isColumn(value, facts) && TABLE.test(lastWord(value.value))) ||
        // A tuple for each example.
        (value.kind === "Call" && facts.file.dotted(value.func) === "builtins.zip"),
    );
  if (expr.func.kind !== "Attribute") return false;
  if (expr.func.attr === "tolist" || expr.func.attr === "split")
    return (
      /read|df|frame|csv|data|text/i.test(facts.file.textOf(expr.func.value)) ||
      (expr.func.attr === "tolist" && isColumn(expr.func.value, facts))
    );
  // `table.to_list()`, of an Arrow table: what it held outside of Python becomes objects.
  return /^(?:readlines|splitlines|to_dict|to_list|to_pylist|r?glob|iterdir|iterrows|itertuples|getImgIds|getAnnIds)$/.test(
    expr.func.attr,
  );
}

/** Gone through, it is an object for each example: the lines of a file, the keys of a table of them, what a data set hands out. */
function areMany(expr: Expr, facts: Facts, depth: number): boolean {
  const { file } = facts;
  if (isObjects(expr, facts, depth) || isLines(expr, file)) return true;
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  if (made?.kind !== "Call") return false;
  if (
    /^(?:datasets\.load_(?:dataset|from_disk)|numpy\.(?:load|memmap|fromfile))$/.test(
      file.dotted(made.func) ?? "",
    )
  )
    return true;
  return (
    made.func.kind === "Attribute" &&
    /^(?:keys|values|items)$/.test(made.func.attr) &&
    EXAMPLES.test(lastWord(made.func.value))
  );
}

/** By its name a table of Pandas. */
const TABLE = /(?:^|_)(?:df|frame|table|csv|meta(?:data)?|annotations?)$/;

/** By its name a table with an entry for each example. */
const EXAMPLES =
  /(?:^|_)(?:meta(?:data)?|data|anno(?:s|tations?)?|imgs|images|records|samples|examples|captions|utterances|manifest|questions)(?:_?(?:dict|map|by_id))?$/;

/** `open(path)`, or the name that it has in `with open(path) as file:`. */
function isLines(expr: Expr, file: PythonFile): boolean {
  const opens = (value: Expr | null): boolean =>
    value?.kind === "Call" &&
    (file.dotted(value.func) === "builtins.open" || lastWord(value.func) === "open") &&
    !/["'][rwa]?b/.test(file.textOf(value));
  if (expr.kind !== "Name") return opens(expr);
  const reaching = file.scopes.reaching(expr);
  return (
    reaching.length > 0 && reaching.every(({ how, value }) => /^(?:with|assign)$/.test(how) && opens(value))
  );
}

/** `table["caption"]`, `rows.values`, `np.load(path)`: as a list, a number or a text for each of its rows. */
function isColumn(expr: Expr, { file }: Facts): boolean {
  if (expr.kind === "Subscript") return expr.index.kind === "Str";
  if (expr.kind === "Attribute") return expr.attr === "values";
  return (
    expr.kind === "Call" && /^(?:numpy|torch)\.(?:load|memmap|fromfile)$/.test(file.dotted(expr.func) ?? "")
  );
}

/** `tokenizer(texts, truncation=True)`: lists of numbers, where no tensors are asked for. One text is one list. */
function isTokenized(call: Call, facts: Facts): boolean {
  const texts = call.args[0]?.name === null ? call.args[0].value : null;
  return (
    texts !== null &&
    /tokenizer$/i.test(lastWord(call.func)) &&
    !keyword(call, "return_tensors") &&
    (lastWord(texts).endsWith("s") || texts.kind === "Comp" || isObjects(texts, facts, 3))
  );
}

/** `self.pairs.extend(zip(images, labels))`, `self.pairs += zip(images, labels)`: a tuple for each example, whatever is in it. */
function isGoneThrough({ parent }: Call): boolean {
  if (parent?.kind === "AugAssign") return true;
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return call?.kind === "Call" && call.func.kind === "Attribute" && call.func.attr === "extend";
}

/** `[data[i] for i in range(len(data))]`, `[one for one in dataset if one["text"]]`: what a data set hands out, one by one. */
function areExamples({ element, clauses }: Comp, facts: Facts): boolean {
  const { file } = facts;
  const [{ target, iter }] = clauses as [Clause];
  if (element.kind === "Subscript") {
    const many =
      iter.kind === "Call" && file.dotted(iter.func) === "builtins.range" ? iter.args.at(-1) : null;
    return (
      many?.value.kind === "Call" &&
      file.dotted(many.value.func) === "builtins.len" &&
      many.value.args[0] !== undefined &&
      file.textOf(many.value.args[0].value) === file.textOf(element.value) &&
      isData(element.value, facts)
    );
  }
  return (
    element.kind === "Name" &&
    target.kind === "Name" &&
    element.id === target.id &&
    (isData(iter, facts) || areMany(iter, facts, 2))
  );
}

/** By its name a data set, and by what is seen of it neither an array nor a loader. */
function isData(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Name" && expr.kind !== "Subscript") return false;
  const whole = expr.kind === "Subscript" ? expr.value : expr;
  if (!/(?:^|_)(?:data_?sets?|ds|records|examples)$/i.test(lastWord(whole))) return false;
  return (
    whole.kind !== "Name" ||
    file.scopes
      .reaching(whole)
      .every(
        ({ value }) =>
          value?.kind !== "Call" || !/^(?:numpy|torch\.(?!utils))/.test(file.dotted(value.func) ?? ""),
      )
  );
}

/** `range(1, int(header.label[0]))`, `range(len(table))`: a number for each record, where an array would hold them. */
function isEndOfMany(expr: Expr, { file }: Facts): boolean {
  const end =
    expr.kind === "Call" && file.dotted(expr.func) === "builtins.range" ? expr.args.at(-1)?.value : null;
  return end?.kind === "Call" && /^builtins\.(?:int|len)$/.test(file.dotted(end.func) ?? "");
}

/** `blocks = []`, and `blocks.append(buffer[:size])` below. */
function isFilledWithObjects(list: Name, facts: Facts): boolean {
  const fn = functionOf(list);
  const added = facts.file
    .callsNamed("append")
    .filter(
      ({ func }) =>
        func.kind === "Attribute" &&
        func.value.kind === "Name" &&
        func.value.id === list.id &&
        functionOf(func) === fn,
    );
  return (
    added.length > 0 &&
    added.every(({ args }) => args[0] !== undefined && isObject(args[0].value, facts)) &&
    !(fn?.kind === "FunctionDef" && isPacked(list, fn, facts))
  );
}

/** It appends objects to a list, or returns a comprehension of them or what it read. */
function collects(fn: FunctionDef, facts: Facts, depth: number): boolean {
  let found = false;
  walk(fn, (node) => {
    if (node.kind === "Call" && node.func.kind === "Attribute" && node.func.attr === "append")
      found ||=
        node.args[0] !== undefined &&
        isObject(node.args[0].value, facts) &&
        !isPacked(node.func.value, fn, facts);
    if (node.kind === "Return" && node.value)
      found ||=
        node.value.kind === "Comp"
          ? isObject(node.value.element, facts)
          : (node.value.kind === "Tuple" ? node.value.items : [node.value]).some(
              (one) => one.kind !== "Subscript" && (isObjects(one, facts, depth) || isTransposed(one, facts)),
            );
    return !found;
  });
  return found;
}

/** `names, labels = zip(*records)`, also through a list: each is a tuple with an object for every record. */
function isTransposed(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Name") return false;
  return file.scopes.reaching(expr).some(({ how, value }) => {
    let made = how === "unpack" ? value : null;
    while (made?.kind === "Call" && /^builtins\.(?:list|tuple)$/.test(file.dotted(made.func) ?? ""))
      made = made.args[0]?.value ?? null;
    return (
      made?.kind === "Call" &&
      file.dotted(made.func) === "builtins.zip" &&
      made.args.some(({ star }) => star === 1)
    );
  });
}

const PACKS = /^(?:numpy|torch|pandas|pyarrow)\./;

/** `return np.array(rows), np.array(labels)`, or the same by `rows = np.array(rows)` before: one block, and no list. */
function isPacked(list: Expr, fn: FunctionDef, { file }: Facts): boolean {
  if (list.kind !== "Name") return false;
  return file
    .callsNamed("array", "asarray", "stack", "tensor", "concatenate", "DataFrame")
    .some(
      (call) =>
        contains(fn, call) &&
        call.args[0]?.value.kind === "Name" &&
        call.args[0].value.id === list.id &&
        PACKS.test(file.dotted(call.func) ?? ""),
    );
}

/** A generator of this file that hands them out one by one: gone through, it is a list of them. */
function yieldsObjects(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const name = expr.kind === "Call" && file.all("Yield").length > 0 ? callTarget(expr, file) : null;
  const handed = name === null ? undefined : file.once(yieldsByName).get(name);
  return handed?.some((one) => isObject(one, facts)) ?? false;
}

function isRead(expr: Expr, facts: Facts): boolean {
  return expr.kind === "Call" && READERS.test(facts.file.dotted(expr.func) ?? "");
}

/** A dict, a tuple, a string or what a reader made: anything with a reference count of its own. */
function isObject(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 8) return false;
  if (/^(?:Dict|Tuple|List|Str|Comp)$/.test(expr.kind)) return true;
  // A field of a record, a piece of a text or a list, or a part of a row.
  if (expr.kind === "Subscript")
    return (
      expr.index.kind === "Str" ||
      (expr.index.kind === "Slice" && facts.value(expr.value).what !== "tensor") ||
      isNumbering(expr.value, facts) ||
      isObject(expr.value, facts, depth + 1)
    );
  // What a loop over a file or a list of records hands out, or was made into in it.
  if (expr.kind === "Name")
    return facts.file.scopes
      .reaching(expr)
      .some(
        ({ how, value }) =>
          value !== null &&
          (((how === "iterate" || how === "unpack") && isObjects(value, facts, 1)) ||
            (how === "iterate" && yieldsObjects(value, facts)) ||
            (how === "unpack" && isText(value, facts)) ||
            (how === "assign" && value.kind !== "Name" && isObject(value, facts, depth + 1))),
      );
  // `path.stem`, `row.caption`, of each of many.
  if (expr.kind === "Attribute" && expr.value.kind === "Name") {
    const reaching = facts.file.scopes.reaching(expr.value);
    return (
      reaching.length > 0 &&
      reaching.every(({ how, value }) => how === "iterate" && value !== null && isObjects(value, facts, 1))
    );
  }
  // `root + name`, `Path(root) / name`
  if (expr.kind === "Binary")
    return (
      (expr.op === "+" && [expr.left, expr.right].some((side) => side.kind === "Str" || isJoined(side))) ||
      (expr.op === "/" &&
        (expr.right.kind === "Str" ||
          (expr.left.kind === "Call" && facts.file.dotted(expr.left.func) === "pathlib.Path"))) ||
      (expr.op === "%" && expr.left.kind === "Str")
    );
  if (expr.kind !== "Call") return false;
  // `self.get_caption(row)`
  if (/(?:^|_)(?:captions?|texts?|prompts?|paths?|names?|sentences?)$/.test(selfAttribute(expr.func) ?? ""))
    return true;
  const name = facts.file.dotted(expr.func) ?? "";
  // A path, or an instance of a class of this file.
  if (/^(?:os\.path\.join|builtins\.(?:str|tuple|list|dict)|pathlib\.Path)$/.test(name)) return true;
  if (facts.file.all("ClassDef").some((cls) => facts.file.qualified(cls) === name)) return true;
  if (RECORDS.test(last(name)) && !/^(?:torch|numpy)\./.test(name)) return true;
  // `int(line)` of each line
  if (/^builtins\.(?:int|float)$/.test(name)) {
    const of = expr.args[0]?.value;
    return of !== undefined && (isObject(of, facts, depth + 1) || isEachLine(of, facts.file));
  }
  // `self.parsed(line)`, which returns a dict or a tuple.
  const target = callTarget(expr, facts.file);
  const returned = target === null ? undefined : facts.file.once(returnsByName).get(target);
  if (returned && returned.length > 0)
    return returned.every((one) => /^(?:Dict|Tuple|List|Str|Comp)$/.test(one.kind));
  if (isEncoded(expr)) return true;
  // `Record = namedtuple("Record", …)`
  const kind = expr.func.kind === "Name" ? facts.file.scopes.onlyValue(expr.func) : null;
  if (
    kind?.kind === "Call" &&
    /(?:^|\.)(?:namedtuple|NamedTuple|make_dataclass)$/.test(facts.file.dotted(kind.func) ?? "")
  )
    return true;
  return (
    READERS.test(name) ||
    TREES.test(name) ||
    (expr.func.kind === "Attribute" &&
      (/^(?:strip|rstrip|split|lower|decode|getroot|tolist|with_suffix|as_posix)$/.test(expr.func.attr) ||
        (expr.func.attr === "format" && expr.func.value.kind === "Str")) &&
      !isTensorWork(expr))
  );
}

/** What others call a class of theirs that one example is. */
const RECORDS =
  /^[A-Z]\w*(?:Example|Sample|Record|Item|Pair|Entry|Row|Instance|Utterance|Features)$|^(?:Example|Sample|Record|Item|Pair|Entry|Row|Instance|Utterance)$/;

/** `tokenizer.encode(text)`: a list of numbers. */
function isEncoded({ func, args }: Call): boolean {
  return (
    func.kind === "Attribute" &&
    /^(?:encode|tokenize|encode_ordinary|EncodeAsIds|text_to_sequence)$/.test(func.attr) &&
    /token|vocab|^sp$|bpe|^enc$/i.test(lastWord(func.value)) &&
    args.every(({ name }) => name !== "return_tensors")
  );
}

/** `root + "/"` */
function isJoined(expr: Expr): boolean {
  return expr.kind === "Binary" && expr.op === "+" && (expr.right.kind === "Str" || isJoined(expr.left));
}

/** What `for line in open(path)` hands out. */
function isEachLine(expr: Expr, file: PythonFile): boolean {
  const reaching = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    reaching.length > 0 &&
    reaching.every(({ how, value }) => how === "iterate" && value !== null && isLines(value, file))
  );
}

/** `name, label = line.strip().split("|")`: the parts of a line. */
function isText(value: Expr, { file }: Facts): boolean {
  if (value.kind !== "Call" || value.func.kind !== "Attribute" || value.func.attr !== "split") return false;
  const [by] = value.args;
  if (by) return by.value.kind === "Str";
  const of = value.func.value;
  return of.kind === "Call"
    ? of.func.kind === "Attribute" && /^(?:strip|rstrip|decode)$/.test(of.func.attr)
    : of.kind === "Name" && file.scopes.reaching(of).every(({ how }) => how === "iterate");
}

/** `self.ids = {word: at for at, word in enumerate(words)}`: the number of a word is an object too. */
function isNumbering(expr: Expr, { file }: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(({ value }) => {
      const number = value?.kind === "Comp" && value.value?.kind === "Name" ? value.value : null;
      const [from, ...more] = number ? file.scopes.reaching(number) : [];
      return (
        more.length === 0 &&
        from?.value?.kind === "Call" &&
        file.dotted(from.value.func) === "builtins.enumerate"
      );
    })
  );
}

function isTensorWork(call: Call): boolean {
  return (
    call.func.kind === "Attribute" &&
    call.func.attr === "split" &&
    call.args.some((arg) => arg.value.kind === "Num")
  );
}
