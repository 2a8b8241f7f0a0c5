import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, lastWord, namesIn, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, For, FunctionDef, Name, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { isIndexed } from "../facts/worker-data.ts";
import { returnsByName } from "../facts/returns.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "Every example is processed and kept in host memory before the first step, once in each worker that copies it; do it in `__getitem__`";

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
    for (const cls of facts.file.all("ClassDef")) {
      if (facts.role(cls) !== "dataset" && !isReadAsOne(cls, facts)) continue;
      const methods = methodsOf(cls);
      const init = methods.find((method) => method.name === "__init__");
      if (!init) continue;
      const reached = new Set([init]);
      // `self.prepare()`, and what that calls in its turn.
      for (const method of reached) for (const called of calledBy(method, cls)) reached.add(called);
      for (const method of reached) {
        yield* appends(method, facts);
        yield* displays(method, facts);
      }
    }
    yield* stacked(facts);
  },
};

/** `class Dataset(object)`: of no class of torch, but called so beside it, or given to a loader. */
function isReadAsOne(cls: ClassDef, { file, project }: Facts): boolean {
  return (
    isIndexed(cls, file) &&
    ((/data_?set$/i.test(cls.name) && file.mentions("torch")) ||
      project.functions.get(`${file.qualified(cls)}.__init__`)?.workers === true)
  );
}

/** `TensorDataset(torch.stack([transform(one) for one in dataset]))` */
function* stacked(facts: Facts): Generator<{ at: Node; message: string }> {
  const { file } = facts;
  for (const call of file.callsNamed("TensorDataset")) {
    if (file.dotted(call.func) !== "torch.utils.data.TensorDataset") continue;
    for (const { value } of call.args) {
      const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
      const parts = made?.kind === "Call" && JOINS.test(file.dotted(made.func) ?? "") ? made.args[0] : null;
      const comp = parts?.value.kind === "Name" ? file.scopes.onlyValue(parts.value) : parts?.value;
      const over = comp?.kind === "Comp" ? comp.clauses[0]?.iter : null;
      if (comp?.kind === "Comp" && over && (works(comp.element, facts) || isDataset(over))) {
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

/** What makes it expensive: a tokenizer, an image, a tensor for each example. */
const WORKS =
  /tokeniz|process|transform|Image\.open|imread|encode(?!r\w*Config)|torch\.tensor|load_(?:file|pair|sample|clip|frame)\w*$|(?:load|read)_(?:rgb|img|image|wav|audio|video|mel|spec|nii|npz|npy|ply|pcd|points|point_?cloud|mesh|voxel|volume|dicom|dcm|tiff?|exr|depth|flow)\w*$|torchaudio|np\.load|numpy\.load|torch\.load|librosa|nibabel|pydicom|SimpleITK|tifffile|rasterio|soundfile|imageio|cv2\.|spectrogram|read_video|VideoReader|decord|from_numpy|\.convert$|^(?:self\.)?(?:tok|loader|load_(?:fn|func))$/i;

/** `self.items = [tokenizer(t) for t in texts]`, `torch.stack([torch.load(f) for f in files])`, `list(map(…))`. */
function* displays(method: FunctionDef, facts: Facts): Generator<{ at: Node; message: string }> {
  // Of one result, kept part by part, it is said once.
  const told = new Set<string>();
  for (const statement of statementsOf(method)) {
    if (statement.kind !== "Assign" || !statement.targets.some((target) => selfAttribute(target) !== null))
      continue;
    const { value } = statement;
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
        (WORKS.test(facts.file.textOf(node.args[0].value)) || isWorker(node.args[0].value, facts))
      )
        found ??= node;
      return found === null;
    });
    if (found) yield { at: found, message: MESSAGE };
  }
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
function isDrained(node: Node, { file }: Facts): boolean {
  if (node.kind !== "Comp" || node.element.kind !== "Subscript" || node.element.value.kind !== "Name")
    return false;
  const over = node.clauses[0] && file.textOf(node.clauses[0].iter);
  return (
    over === `range(len(${node.element.value.id}))` &&
    (file.scopes.onlyValue(node.element.value)?.kind === "Call" || isDataset(node.element.value))
  );
}

/** By its name, another dataset that reads each example when it is asked for it. */
function isDataset(expr: Expr): boolean {
  return expr.kind === "Name" && /data_?set$/i.test(expr.id);
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

/** `tokenizer(texts, padding=True)` of all that the constructor was given, or an array read as a whole. */
function isWhole(expr: Expr, method: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  // `h5py.File(path)["images"][:]`
  if (expr.kind === "Subscript") {
    // `tokenizer(texts, …)["input_ids"]`
    if (expr.index.kind === "Str") return isWhole(expr.value, method, facts);
    return (
      /^(?::|\(\)|\.\.\.)$/.test(file.textOf(expr.index).trim()) &&
      expr.value.kind === "Subscript" &&
      file.mentions("h5py")
    );
  }
  if (expr.kind === "Attribute" && expr.value.kind === "Call") return isWhole(expr.value, method, facts);
  // `encoded = encode_all(texts)`, then `self.ids = encoded["ids"]`
  if (expr.kind === "Name") {
    const made = file.scopes.onlyValue(expr);
    return made?.kind === "Call" && isByHelper(made, facts);
  }
  // `file["x"][:] / 255`
  if (expr.kind === "Binary") return isWhole(expr.left, method, facts);
  if (expr.kind !== "Call") return false;
  // `torch.from_numpy(file["x"][:]).float()`
  if (
    expr.func.kind === "Attribute" &&
    expr.func.value.kind === "Call" &&
    /^(?:float|long|to|astype)$/.test(expr.func.attr)
  )
    return isWhole(expr.func.value, method, facts);
  const name = file.dotted(expr.func) ?? "";
  const inner = positional(expr, 0);
  if (inner && /^torch\.(?:from_numpy|(?:as_)?tensor)$|^numpy\.(?:as)?array$/.test(name))
    return isWhole(inner, method, facts);
  if (name === "numpy.load") return !keyword(expr, "mmap_mode") && positional(expr, 1) === null;
  if (name === "numpy.fromfile") return true;
  if (name === "torch.load") return !keyword(expr, "mmap");
  if (isByHelper(expr, facts)) return true;
  const first = positional(expr, 0);
  if (!first || !/tokeniz|batch_encode|^tok$/i.test(file.textOf(expr.func).slice(-40))) return false;
  const from = first.kind === "Call" && !isMany(first, file) ? positional(first, 0) : first;
  return (
    from !== null &&
    (isMany(from, file) || (from.kind === "Name" && method.params.some((param) => param.name === from.id))) &&
    /padding|truncation|return_tensors|max_length/.test(file.textOf(expr))
  );
}

/** Lines read here, or a column. */
function isMany(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const value = file.scopes.onlyValue(expr);
    return value !== null && value.kind !== "Name" && isMany(value, file);
  }
  if (expr.kind === "Comp") return true;
  if (expr.kind === "Subscript") return expr.index.kind === "Str";
  return (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:splitlines|readlines|tolist|split)$/.test(expr.func.attr)
  );
}

/** A function of this file that works through all of them: `return [tokenizer(text) for text in texts]`. */
function isByHelper({ func }: Call, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  const name = func.kind === "Name" && depth < 3 ? file.dotted(func) : null;
  const returns = name === null ? undefined : file.once(returnsByName).get(name);
  return returns?.some((value) => isListed(value, facts, depth)) ?? false;
}

/** A list made of what each example was worked into, also under a name or a key. */
function isListed(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr): boolean => isListed(inner, facts, depth + 1);
  if (expr.kind === "Comp") return works(expr.element, facts);
  if (expr.kind === "Subscript") return expr.index.kind === "Str" && again(expr.value);
  if (expr.kind === "Dict") return expr.values.some(again);
  if (expr.kind === "Call")
    return facts.file.dotted(expr.func) === "builtins.dict"
      ? expr.args.some(({ value }) => again(value))
      : isByHelper(expr, facts, depth + 1);
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return one?.value != null && more.length === 0 && /^(?:assign|unpack)$/.test(one.how) && again(one.value);
}

function works(expr: Node, facts: Facts): boolean {
  let found = false;
  walk(expr, (node) => {
    if (
      node.kind === "Call" &&
      (WORKS.test(facts.file.dotted(node.func) ?? facts.file.textOf(node.func).slice(0, 80)) ||
        // A function of the tree that reads a file.
        facts.callee(node)?.opens === true)
    )
      found = true;
    // `file["images"][i]`
    if (node.kind === "Subscript" && isOfFile(node.value, facts)) found = true;
    return !found && !isMeasure(node);
  });
  return found;
}

/** A dataset in an open file: `file["images"]`, of `with h5py.File(path) as file:`. */
function isOfFile(expr: Expr, { file }: Facts): boolean {
  const [one, ...more] =
    expr.kind === "Subscript" && expr.index.kind === "Str" && expr.value.kind === "Name"
      ? file.scopes.reaching(expr.value)
      : [];
  return one?.value?.kind === "Call" && more.length === 0 && file.dotted(one.value.func) === "h5py.File";
}

/** `image.shape`, `image.size`: of an example that is not kept. */
function isMeasure(node: Node): boolean {
  return node.kind === "Attribute" && /^(?:shape|size|width|height|ndim)$/.test(node.attr);
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
        isWorked(node.value, loop, facts, 0)
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
      isWorked(node.value, loop, facts, 0)
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

function* appends(method: FunctionDef, facts: Facts): Generator<{ at: Node; message: string }> {
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
        (isWorked(node.args[0].value, statement, facts, 0) ||
          (isDataset(statement.iter) &&
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

/** What is put into the list is what was worked out, through names of the same loop. */
function isWorked(expr: Expr, loop: Node, facts: Facts, depth: number): boolean {
  if (depth > 4) return false;
  // `self.volumes[key] = np.array(file[key])`
  if (
    expr.kind === "Call" &&
    facts.file.mentions("h5py") &&
    /^numpy\.(?:as)?array$/.test(facts.file.dotted(expr.func) ?? "") &&
    expr.args[0]?.value.kind === "Subscript"
  )
    return true;
  // A count or an index is no example.
  if (facts.value(expr).what === "number") return false;
  if (works(expr, facts)) return true;
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node))
        if (
          one.value &&
          one.how !== "iterate" &&
          contains(loop, one.node) &&
          isWorked(one.value, loop, facts, depth + 1)
        )
          found = true;
    return !found && !isMeasure(node);
  });
  return found;
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
          (node.parent?.kind === "Arg" && !written) ||
          (node.parent?.kind === "Assign" &&
            node.parent.targets.some((target) => selfAttribute(target) !== null))),
    );
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
