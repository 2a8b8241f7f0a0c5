import { isFalse, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Comp, Expr, For, FunctionDef, Name, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { WORKS, isWorked, works } from "../facts/example-work.ts";
import { gathered, isDataset } from "../facts/gathered-examples.ts";
import { isIndexed } from "../facts/worker-data.ts";
import { likelyDataset } from "../facts/likely-data.ts";
import { returnsByName } from "../facts/returns.ts";
import { loopsAround } from "../facts/training.ts";
import { isByHelper, isWhole, readWhole } from "../facts/whole-sets.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "Every example is processed and kept in host memory before the first step, once in each worker that copies it; do it in `__getitem__`";

const WHOLE =
  "The whole file is read into host memory before the first step, once in each process; `np.memmap` reads only what a batch needs";

export const rule: Rule = {
  meta: {
    code: "PLM040",
    name: "dataset-preprocessed-at-once",
    summary: "A Dataset processes and keeps every example when it is constructed",
    severity: "note",
    fix: "none",
    patterns: [40],
  },
  *check(facts) {
    const told = new Set<Node>();
    for (const finding of found(facts))
      if (!told.has(finding.at)) {
        told.add(finding.at);
        yield finding;
      }
  },
};

interface Found {
  readonly at: Node;
  readonly message: string;
}

function* found(facts: Facts): Generator<Found> {
  for (const cls of facts.file.all("ClassDef")) {
    const begins = beginsIn(cls, facts);
    const reached = new Set(methodsOf(cls).filter(({ name }) => begins?.test(name)));
    // `self.prepare()`, and what that calls in its turn.
    for (const method of reached) for (const called of calledBy(method, cls)) reached.add(called);
    for (const method of reached) {
      yield* appends(method, facts);
      yield* displays(method, facts);
    }
  }
  if (facts.guesses) yield* guessed(facts);
  yield* stacked(facts);
  for (const at of gathered(facts)) yield { at, message: MESSAGE };
  for (const at of readWhole(facts)) yield { at, message: WHOLE };
}

/** What each example is read, cut or encoded by, in a class of no base that is known, or by a function nobody sees. */
function* guessed(facts: Facts): Generator<Found> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (!likelyDataset(cls, facts)) continue;
    const reached = new Set(methodsOf(cls).filter(({ name }) => name === "__init__"));
    for (const method of reached) for (const called of everyCalledBy(method, cls)) reached.add(called);
    for (const method of reached) {
      for (const loop of statementsOf(method))
        if (loop.kind === "For" && !isFew(loop.iter, file) && !isBehindAsked(loop, method)) {
          const kept = likelyKept(loop, method, facts);
          if (kept) yield { at: kept, message: MESSAGE };
        }
      for (const statement of statementsOf(method))
        if (statement.kind === "Assign" && statement.targets.some((target) => isOwn(target))) {
          const made = comprehensionIn(statement.value);
          if (made && !isFew(made.clauses[0]!.iter, file) && worksLikely(made.value ?? made.element, facts))
            yield { at: made, message: MESSAGE };
        }
    }
  }
}

/** `[…]`, `torch.stack([…])`, `dict(…)` */
function comprehensionIn(value: Expr): Comp | null {
  if (value.kind === "Comp") return value;
  const first = value.kind === "Call" ? value.args[0]?.value : null;
  return first ? comprehensionIn(first) : null;
}

/** Whatever decides about it. */
function everyCalledBy(init: FunctionDef, cls: ClassDef): FunctionDef[] {
  const names = new Set<string>();
  walk(init, (node) => {
    if (node.kind === "Call" && selfAttribute(node.func) !== null) names.add(selfAttribute(node.func)!);
    return !(node.kind === "If" && isAskedFor(node.test, init));
  });
  return methodsOf(cls).filter((method) => names.has(method.name) && !method.name.startsWith("__"));
}

/** `if cached:`, which is off unless somebody asks. */
function isAskedFor(test: Expr, { params }: FunctionDef): boolean {
  const word = lastWord(test);
  return (
    /cache|preload|memory|(?:^|_)ram|debug|overfit/i.test(word) ||
    params.some((param) => param.name === word && isFalse(param.default))
  );
}

const isBehindAsked = (loop: For, method: FunctionDef): boolean =>
  ancestors(loop).some(
    (at) => at.kind === "If" && at.body.some((one) => contains(one, loop)) && isAskedFor(at.test, method),
  );

/** What is put on self, or into what is put there, in a loop over the examples. */
function likelyKept(loop: For, method: FunctionDef, facts: Facts): Node | null {
  let found: Node | null = null;
  walk(loop, (node) => {
    if (
      node.kind === "Call" &&
      node.func.kind === "Attribute" &&
      node.func.attr === "append" &&
      node.args[0]
    ) {
      if (isKept(node, method, facts) && isWorkedLikely(node.args[0].value, loop, facts)) found ??= node;
    } else if (node.kind === "Assign" && node.targets[0]?.kind === "Subscript") {
      const [target] = node.targets;
      if (selfAttribute(target.value) !== null && isWorkedLikely(node.value, loop, facts)) found ??= node;
    }
    return found === null;
  });
  return found;
}

/** `highest + 1` */
const isCountedOn = (expr: Expr): boolean =>
  expr.kind === "Binary" && expr.op === "+" && expr.right.kind === "Num";

/** Also through names of the same turn. */
function isWorkedLikely(expr: Expr, loop: For, facts: Facts, depth = 0): boolean {
  if (facts.value(expr).what === "number" || isIndex(expr) || isCountedOn(expr)) return false;
  if (worksLikely(expr, facts)) return true;
  return (
    depth < 4 &&
    partsIn(expr).some((name) =>
      facts.file.scopes
        .reaching(name)
        .some(
          ({ how, node, value }) =>
            value !== null &&
            how !== "iterate" &&
            contains(loop, node) &&
            isWorkedLikely(value, loop, facts, depth + 1),
        ),
    )
  );
}

/** The names in it, but for what is only measured: `volume.shape[0]`. */
function partsIn(expr: Expr): readonly Name[] {
  const found: Name[] = [];
  walk(expr, (node) => {
    if (node.kind === "Name") found.push(node);
    return (
      !(node.kind === "Attribute" && (MEASURES.test(node.attr) || node.attr === "ndim")) &&
      !(node.kind === "Call" && lastWord(node.func) === "len")
    );
  });
  return found;
}

const LIKELY_WORK =
  /^_*(?:(?:load|read|open|decode|process|preprocess|transform|extract|compute|featuri[sz]e|resize|crop|augment|normali[sz]e|render|encode|tokeni[sz]e)(?:_?(?:one|single|image|img|audio|wav|mel|sample|example|item|frame|clip|video|feature|text|window|spec|volume|pair|point|mesh|data|file|npy|npz|id|graph)\w*)?|imread|from_numpy|as_tensor|FloatTensor|LongTensor|Tensor|to_tensor|pil_to_tensor|stft|\w*spectrogram|get_(?:mel|audio|image|img|feature|sample|example|item|spec|graph|pair)\w*|(?:make|build)_(?:sample|example|graph|feature|window|input)\w*)$/i;

function worksLikely(expr: Expr, facts: Facts): boolean {
  let found = works(expr, facts);
  if (!found)
    walk(expr, (node) => {
      if (
        node.kind === "Call" &&
        LIKELY_WORK.test(lastWord(node.func)) &&
        !/^json\.|^builtins\.open/.test(facts.file.dotted(node.func) ?? "")
      )
        found = true;
      return !found && !(node.kind === "Attribute" && MEASURES.test(node.attr));
    });
  return found;
}

/** What is asked of a picture, an array or the header of a sound, and is a number. */
const MEASURES = /^(?:shape|size|width|height|num_frames|frames|sample_?rate|duration|num_channels)$/;

/** A few kinds or files, however many examples there are. */
function isFew(iter: Expr, file: PythonFile): boolean {
  return (
    iter.kind === "Tuple" ||
    iter.kind === "List" ||
    /class|categor|split|poses?(?:\b|_)|dirs?\b|folders?\b|^range\(\d+\)$|scale|layer|shard|transform|keys?\b|size|dataset|archive|batch_files|\bh5/i.test(
      file.textOf(iter),
    )
  );
}

/** The methods of a class in which a run begins: those of a dataset, or of a module of data of Lightning. */
function beginsIn(cls: ClassDef, facts: Facts): RegExp | null {
  if (facts.role(cls) === "dataset" || isReadAsOne(cls, facts)) return /^__init__$/;
  const isOfData = cls.args.some(({ value }) =>
    (facts.file.dotted(value) ?? "").endsWith(".LightningDataModule"),
  );
  return isOfData ? /^(?:__init__|setup)$/ : null;
}

/** `class Dataset(object)`: of no class of torch, but called so beside it, or given to a loader. */
function isReadAsOne(cls: ClassDef, { file, project }: Facts): boolean {
  return (
    isIndexed(cls, file) &&
    ((/data_?set$/i.test(cls.name) && file.mentions("torch")) ||
      project.functions.get(`${file.qualified(cls)}.__init__`)?.workers === true)
  );
}

/** `TensorDataset(torch.stack([transform(one) for one in dataset]))` */
function* stacked(facts: Facts): Generator<Found> {
  const { file } = facts;
  for (const call of file.callsNamed("TensorDataset")) {
    if (file.dotted(call.func) !== "torch.utils.data.TensorDataset") continue;
    for (const { value } of call.args) {
      const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
      const parts = made?.kind === "Call" && JOINS.test(file.dotted(made.func) ?? "") ? made.args[0] : null;
      const comp = parts?.value.kind === "Name" ? file.scopes.onlyValue(parts.value) : parts?.value;
      const over = comp?.kind === "Comp" ? comp.clauses[0]?.iter : null;
      if (comp?.kind === "Comp" && over && (works(comp.element, facts) || isDataset(over, facts))) {
        yield { at: comp, message: MESSAGE };
        break;
      }
    }
  }
}

/** `self.prepare()`, when nothing decides about it. */
function calledBy(init: FunctionDef, cls: ClassDef): FunctionDef[] {
  const names = new Set<string>();
  for (const statement of init.body)
    if (statement.kind !== "If")
      walk(statement, (node) => {
        if (node.kind === "Call" && selfAttribute(node.func) !== null) names.add(selfAttribute(node.func)!);
      });
  return methodsOf(cls).filter((method) => names.has(method.name) && !method.name.startsWith("__"));
}

/** `self.items = [tokenizer(t) for t in texts]`, `torch.stack([torch.load(f) for f in files])`, `list(map(…))`. */
function* displays(method: FunctionDef, facts: Facts): Generator<Found> {
  // Of one result, kept part by part, it is said once.
  const told = new Set<string>();
  for (const statement of statementsOf(method)) {
    if (statement.kind !== "Assign") continue;
    const { value } = statement;
    const [target] = statement.targets;
    // `self.images, self.labels = load_all(root)`
    if (target?.kind === "Tuple" && value.kind === "Call" && target.items.some(isOwn))
      if (isByHelper(value, facts)) yield { at: value, message: MESSAGE };
    // `examples = [folder[i] for i in range(len(folder))]`, whoever gets them.
    if (isDrained(value, facts) && !statement.targets.some(isOwn)) yield { at: value, message: MESSAGE };
    if (!statement.targets.some(isOwn)) continue;
    const of = value.kind === "Subscript" && value.value.kind === "Name" ? value.value.id : "";
    if (!told.has(of) && isWhole(value, method, facts)) {
      if (of !== "") told.add(of);
      yield { at: value, message: MESSAGE };
    }
    let found: Node | null = null;
    walk(statement.value, (node) => {
      const maps =
        node.kind === "Call" &&
        (facts.file.dotted(node.func) === "builtins.map" ||
          // `frame.text.apply(lambda text: …)`
          (node.func.kind === "Attribute" && /^(?:progress_)?(?:apply|map)$/.test(node.func.attr)))
          ? node.args[0]?.value
          : null;
      // `list(map(read_image, paths))`
      if (maps && maps.kind !== "Lambda" && isReaderOfOne(maps, facts)) found ??= node;
      const made =
        node.kind === "Comp" ? (node.value ?? node.element) : maps?.kind === "Lambda" ? maps.body : null;
      if (made && (works(made, facts) || isDrained(node, facts) || isOwnWork(made, facts))) found ??= node;
      // `[clip_of(path, size) for path in paths]`, of a function of this file.
      if (made?.kind === "Call" && isWorker(made.func, facts) && isPutTogether(made, facts)) found ??= node;
      // `parts = [torch.load(f) for f in files]`, then `torch.cat(parts)`
      const parts =
        node.kind === "Name" && node.parent?.kind === "Arg" ? facts.file.scopes.onlyValue(node) : null;
      if (parts?.kind === "Comp" && JOINS.test(joinOf(node, facts)) && works(parts.element, facts))
        found ??= node;
      // `pool.map(tokenizer.encode, files)`
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        /^i?map(?:_unordered)?$/.test(node.func.attr) &&
        node.args[0] &&
        (WORKS.test(facts.file.textOf(node.args[0].value)) ||
          isWorker(node.args[0].value, facts) ||
          isReaderOfOne(node.args[0].value, facts))
      )
        found ??= node;
      return found === null;
    });
    if (found) yield { at: found, message: MESSAGE };
  }
}

function isOwn(target: Expr): boolean {
  return selfAttribute(target) !== null;
}

/** `[self.make(text) for text in texts]` */
function isOwnWork(expr: Expr, facts: Facts): boolean {
  // `[self.read(path)[0] for path in paths]`
  if (expr.kind === "Subscript") return isOwnWork(expr.value, facts);
  const own = expr.kind === "Call" ? selfAttribute(expr.func) : null;
  const method = own === null ? undefined : methodsOf(classOf(expr)!).find((one) => one.name === own);
  return method?.body.some((statement) => works(statement, facts)) ?? false;
}

/** `[folder[i] for i in range(len(folder))]` of a dataset made here, or handed in. */
function isDrained(node: Node, facts: Facts): boolean {
  const { file } = facts;
  if (node.kind !== "Comp" || node.element.kind !== "Subscript" || node.element.value.kind !== "Name")
    return false;
  const over = node.clauses[0] && file.textOf(node.clauses[0].iter);
  return (
    over === `range(len(${node.element.value.id}))` &&
    (file.scopes.onlyValue(node.element.value)?.kind === "Call" || isDataset(node.element.value, facts))
  );
}

const JOINS = /^(?:torch|numpy)\.(?:cat|concat|stack|concatenate|[hv]stack|array)$/;

/** What the call is that a name is handed to. */
function joinOf({ parent }: Node, { file }: Facts): string {
  return parent?.kind === "Arg" && parent.parent?.kind === "Call"
    ? (file.dotted(parent.parent.func) ?? "")
    : "";
}

/** A function of this file that reads or makes one example. */
function isWorker(expr: Expr, facts: Facts): boolean {
  const { file } = facts;
  const name = expr.kind === "Name" ? file.dotted(expr) : null;
  const fn = file.functionNamed(name);
  return fn?.body.some((statement) => works(statement, facts)) ?? false;
}

/** A function or method that reads an example from a file and hands it back, by its name. */
function isReaderOfOne(expr: Expr, { file, project }: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const name = cls ? `${file.qualified(cls)}.${own}` : file.dotted(expr);
  return name !== null && (project.functions.get(name)?.opens ?? null) !== null;
}

/** `return torch.stack(frames)`: what is read is kept as a whole, and not a label of it. */
function isPutTogether({ func }: Call, { file }: Facts): boolean {
  const returned = file.once(returnsByName).get(file.dotted(func) ?? "") ?? [];
  return (
    returned.length > 0 &&
    returned.every((value) => value.kind === "Call" && JOINS.test(file.dotted(value.func) ?? ""))
  );
}

/** Every statement of a method, also under `with`, `if` and in loops. */
function statementsOf(method: FunctionDef): Node[] {
  const found: Node[] = [];
  walk(method, (node) => {
    if (node.kind === "Assign" || node.kind === "For") found.push(node);
    return node === method || (node.kind !== "FunctionDef" && node.kind !== "Lambda");
  });
  return found;
}

/** `self.cache[i] = self.mel(wave)` */
function entryMade(loop: For, method: FunctionDef, facts: Facts): Node | null {
  let found: Node | null = null;
  walk(loop, (node) => {
    if (node.kind === "Assign") {
      const [target] = node.targets;
      if (
        target?.kind === "Subscript" &&
        (selfAttribute(target.value) !== null ||
          // `images[path] = …`, and `return images`.
          (target.value.kind === "Name" &&
            (isHandedBack(target.value, method, facts) || isOfKept(target.value, loop, method, facts)))) &&
        isWorked(node.value, loop, facts)
      )
        found ??= node;
    }
    return found === null;
  });
  return found;
}

/** `row["image"] = …` of `for row in tqdm(rows):`, where all rows are kept: `self.rows = rows`. */
function isOfKept(row: Name, loop: For, method: FunctionDef, facts: Facts): boolean {
  const { scopes } = facts.file;
  const bound = namesIn(loop.target).at(-1);
  const isRow = bound !== undefined && scopes.reaching(row).some(({ node }) => node === bound);
  const over =
    loop.iter.kind === "Call" && /^(?:tqdm|trange|track|enumerate)$/.test(lastWord(loop.iter.func))
      ? positional(loop.iter, 0)
      : loop.iter;
  const rows =
    over?.kind === "Call" && /^(?:tqdm|enumerate)$/.test(lastWord(over.func)) ? positional(over, 0) : over;
  return isRow && rows !== null && (selfAttribute(rows) !== null || isPutOnSelf(rows, method, facts));
}

/** `self.data += [augment(image) for _ in range(n)]` */
function addedMade(loop: For, method: FunctionDef, facts: Facts): Node | null {
  let found: Node | null = null;
  walk(loop, (node) => {
    if (
      node.kind === "AugAssign" &&
      node.op === "+" &&
      (selfAttribute(node.target) !== null || isPutOnSelf(node.target, method, facts)) &&
      (node.value.kind === "Comp" || node.value.kind === "List" || node.value.kind === "Binary") &&
      // How many there are is no example.
      !(
        node.value.kind === "List" && node.value.items.every((item) => facts.value(item).what === "number")
      ) &&
      isWorked(node.value, loop, facts)
    )
      found ??= node;
    return found === null;
  });
  return found;
}

/** `ids += …`, then `self.blocks = torch.tensor(ids)`. */
function isPutOnSelf(target: Expr, method: FunctionDef, facts: Facts): boolean {
  if (target.kind !== "Name") return false;
  return facts.file
    .all("Assign")
    .some(
      (one) =>
        contains(method, one) &&
        one.targets.some((to) => selfAttribute(to) !== null) &&
        new RegExp(`\\b${target.id}\\b`).test(facts.file.textOf(one.value)),
    );
}

function* appends(method: FunctionDef, facts: Facts): Generator<Found> {
  for (const statement of statementsOf(method)) {
    if (statement.kind !== "For") continue;
    const calls: Call[] = [];
    const entry = entryMade(statement, method, facts);
    if (entry) {
      yield { at: entry, message: MESSAGE };
      continue;
    }
    walk(statement, (node) => {
      if (
        node.kind === "Call" &&
        node.func.kind === "Attribute" &&
        node.func.attr === "append" &&
        node.parent?.kind === "ExprStmt" &&
        node.args[0] &&
        (isWorked(node.args[0].value, statement, facts) ||
          (isDataset(statement.iter, facts) &&
            selfAttribute(node.func.value) !== null &&
            !isIndex(node.args[0].value)))
      )
        calls.push(node);
    });
    const at = calls.find((call) => isKept(call, method, facts)) ?? addedMade(statement, method, facts);
    if (at) yield { at, message: MESSAGE };
  }
}

/** `self.labels.append(label)`: small, and wanted. */
function isIndex(expr: Expr): boolean {
  return expr.kind === "Name" && /label|target|class|idx|index|len|id$|^[ijny]$/i.test(expr.id);
}

/** A dict begun empty in the method, which returns it or puts it on self. */
function isHandedBack(name: Name, method: FunctionDef, { file }: Facts): boolean {
  const [one] = file.scopes.reaching(name);
  return (
    one?.value?.kind === "Dict" &&
    one.value.keys.length === 0 &&
    contains(method, one.node) &&
    file.scopes
      .uses(one)
      .some(
        ({ parent }) =>
          parent?.kind === "Return" ||
          (parent?.kind === "Assign" && parent.targets.some((target) => selfAttribute(target) !== null)),
      )
  );
}

/** On self, or in a list that is put there or returned. */
function isKept(call: Call, method: FunctionDef, facts: Facts): boolean {
  const root = call.func.kind === "Attribute" ? call.func.value : call.func;
  if (root.kind !== "Name") return true;
  const written = isWrittenOut(root, facts);
  return facts.file
    .all("Name")
    .some(
      (node) =>
        node.id === root.id &&
        contains(method, node) &&
        !contains(call, node) &&
        (node.parent?.kind === "Return" ||
          (isGiven(node) && !written) ||
          (node.parent?.kind === "Assign" &&
            node.parent.targets.some((target) => selfAttribute(target) !== null))),
    );
}

/** `Clips(clips)`, `Clips(clips[:n])` */
function isGiven({ parent }: Node): boolean {
  if (parent?.kind === "Subscript" && parent.index.kind === "Slice") return isGiven(parent);
  return parent?.kind === "Arg";
}

/** A list begun anew in each turn of a loop that writes files: `group.create_dataset("x", data=np.stack(parts))`. */
function isWrittenOut(list: Name, { file }: Facts): boolean {
  const [loop] = file.scopes.reaching(list).flatMap(({ node }) => loopsAround(node).slice(0, 1));
  return (
    loop !== undefined &&
    file
      .callsNamed("create_dataset", "save", "savez", "savez_compressed", "dump", "imwrite", "put")
      .some((call) => contains(loop, call))
  );
}
