import { keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Clause, Comp, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { returnsByName, yieldsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { last } from "./torch-names.ts";
import { loopsAround } from "./training.ts";

const READERS =
  /^(?:json|pickle|cPickle|yaml|orjson|ujson)\.loads?$|^yaml\.(?:safe|full)_load$|^csv\.(?:reader|DictReader)$/;

/** What others call a function of theirs that reads a list of examples: `load_jsonl`, `read_lines`, `load_filepaths_and_text`. */
const READS_LIST =
  /^_*(?:jload|(?:jsonl?|json_?lines)_?load(?:er)?|(?:load|read|parse|get)_(?:\w+_)?(?:jsonl?|jsonlines|lines|csv|tsv|pickle|pkl|metadata|manifest|file_?lists?|annotations|records|examples|captions|(?:file|audio|image|img)_?paths(?:_and_\w+)?))$/;

/** What parses one file into a tree: an object for each of its elements. */
const TREES =
  /^(?:xml\.etree\.c?ElementTree|lxml\.etree|defusedxml\.ElementTree)\.(?:parse|fromstring|XML)$|^xml\.dom\.minidom\.parse|^xmltodict\.parse$|^bs4\.BeautifulSoup$|^tomllib?\.loads?$/;

/** `[json.loads(line) for line in file]`, `file.readlines()`, `pickle.load(file)`, `list(csv.reader(file))`. */
export function isObjects(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  if (expr.kind === "Name") {
    const value = facts.file.scopes.onlyValue(expr);
    if (value?.kind === "List" && value.items.length === 0) return isFilledWithObjects(expr, facts);
    if (value !== null && isEmptyDict(value, facts.file)) return isFilledWithEntries(expr, facts);
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
  // `list(map(parse, lines))`, `list(filter(is_long, rows))`
  if (name === "builtins.map" || name === "builtins.filter")
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
  // `dict((name, path) for name in names)`, `dict(zip(names, lines))`: an entry for each.
  const entries = /^(?:builtins\.dict|collections\.OrderedDict)$/.test(name) ? expr.args[0]?.value : null;
  if (entries)
    return entries.kind === "Comp" ? isObject(entries.element, facts) : isObjects(entries, facts, depth + 1);
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
export function isFilledWithObjects(list: Name, facts: Facts): boolean {
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

/** `{}`, `dict()`, `defaultdict(list)` */
function isEmptyDict(value: Expr, file: PythonFile): boolean {
  if (value.kind === "Dict") return value.keys.length === 0;
  if (value.kind !== "Call") return false;
  const name = file.dotted(value.func) ?? "";
  return name === "collections.defaultdict" || (name === "builtins.dict" && value.args.length === 0);
}

/** `places = {}`, and `places[name] = line.split()`, or `places[name].append(line)`, in a loop below: an object for each. */
function isFilledWithEntries(dict: Name, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(dict);
  const isEntry = (one: Expr): boolean =>
    one.kind === "Subscript" &&
    one.value.kind === "Name" &&
    one.value.id === dict.id &&
    functionOf(one) === fn &&
    loopsAround(one).length > 0;
  return (
    file
      .all("Assign")
      .some(({ targets: [target], value }) => !!target && isEntry(target) && isObject(value, facts)) ||
    file
      .callsNamed("append")
      .some(({ func, args: [added] }) => func.kind === "Attribute" && isEntry(func.value) && !!added)
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

/** `clean_text(row[1])`, `tokenize_question(line)` */
const TEXTS =
  /^_?(?:preprocess|clean|normali[sz]e|tokeni[sz]e|split|strip)_(?:texts?|strings?|sentences?|questions?|captions?|words|lines?)$/;

/** A dict, a tuple, a string or what a reader made: anything with a reference count of its own. */
export function isObject(expr: Expr, facts: Facts, depth = 0): boolean {
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
  // Strings, or lists of them, whatever file it is of.
  if (TEXTS.test(lastWord(expr.func)) && !/^(?:torch|numpy)/.test(name)) return true;
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
