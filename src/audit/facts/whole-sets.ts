import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { works } from "./example-work.ts";
import { returnsByName } from "./returns.ts";
import { loopsAround } from "./training.ts";

/** What holds all examples at once: a file that is read as a whole, all texts tokenized together, a list of what a function made of each. */

/** `tokenizer(texts, padding=True)` of all that the constructor was given, or an array read as a whole. */
export function isWhole(expr: Expr, method: FunctionDef, facts: Facts): boolean {
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

/** A function that reads many files, or one of this file that works through all of them: `return [tokenizer(text) for text in texts]`. */
export function isByHelper(call: Call, facts: Facts, depth = 0): boolean {
  const { func } = call;
  const { file } = facts;
  const name = func.kind === "Name" && depth < 3 ? file.dotted(func) : null;
  if (name !== null && facts.callee(call)?.opens === "many") return true;
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

/** `np.fromfile(path)` under a name, or a memmap that is copied, in a program that trains by parts of it. */
export function* readWhole(facts: Facts): Generator<Node> {
  const { file } = facts;
  const reads = file
    .callsNamed("fromfile", "memmap")
    .filter((call) => /^numpy\.(?:fromfile|memmap)$/.test(file.dotted(call.func) ?? ""));
  if (reads.length === 0 || facts.stepLoops.size === 0) return;
  for (const call of reads) {
    const fn = functionOf(call);
    const statement = statementOf(call);
    const [target] = statement?.kind === "Assign" ? statement.targets : [];
    const isBefore =
      loopsAround(call).length === 0 &&
      (fn === null || [...facts.stepLoops].some((loop) => functionOf(loop) === fn));
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    // A header, or as many as are asked for.
    const isPart =
      call.args.length > 2 || keyword(call, "count") !== null || keyword(call, "offset") !== null;
    if (!made || !isBefore || (isPart && lastWord(call.func) === "fromfile")) continue;
    if (lastWord(call.func) === "memmap" && !isCopied(call, file)) continue;
    if (file.scopes.uses(made).some(isCutFrom)) yield call;
  }
}

/** `np.memmap(…).astype(np.int64)`, `torch.tensor(np.memmap(…))` */
function isCopied({ parent }: Node, file: PythonFile): boolean {
  if (parent?.kind === "Attribute") return /^(?:astype|copy|tolist)$/.test(parent.attr);
  const taker = parent?.kind === "Arg" ? parent.parent : null;
  return taker?.kind === "Call" && /^(?:torch\.tensor|numpy\.array)$/.test(file.dotted(taker.func) ?? "");
}

/** `data[i : i + block]`, also of what is one of two: `data = train if training else val`. */
function isCutFrom({ parent }: Node): boolean {
  if (parent?.kind === "IfExp") return true;
  return parent?.kind === "Subscript" && parent.index.kind === "Slice";
}
