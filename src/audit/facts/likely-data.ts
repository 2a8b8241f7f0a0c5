import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { ClassDef, Comp, Expr, For, Node, While } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { loadersOf, mayPin } from "./loaders.ts";
import { nextOf } from "./next-batches.ts";
import { METHODS } from "./torch-names.ts";
import { loopsAround } from "./training.ts";
import { isIndexed } from "./worker-data.ts";
import { ONE_PROGRAM } from "./likely.ts";

/** What is likely of loaders, their batches and their data sets, by what these are called and where they come from. */

/** `train_loader`, `dataloader_b`, `valid_dl`, `self.trainLoader` */
const LOADER =
  /loaders?(?:_?[a-z\d]+)?$|(?:^|_)dls?$|^(?:train|unlabel+ed|label+ed|data|src|source|tgt|target)_(?:iter(?:ator)?|gen(?:erator)?|queue)$|^(?:train_)?(?:mini_?)?batches$/i;

/** `load_state`, `upload`: nothing that hands out batches. */
const NO_LOADER = /checkpoint|state|model|weight|config|class|module|yaml|image|file|path|env/i;

/** What goes through a loader for somebody: `enumerate`, `tqdm`, `cycle`, `islice`, `log_every`, `zip`. */
const PASSES =
  /^(?:enumerate|tqdm|trange|iter|cycle|islice|zip|zip_longest|chain|track|progress_?bar|log_every|prepare|prefetch\w*|auto|\w*cycle\w*|inf\w*|endless\w*|repeat\w*)$/i;

/** By its name, or by what made it, something that hands out batches. */
export function likelyLoader(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 5) return false;
  const again = (inner: Expr): boolean => likelyLoader(inner, file, depth + 1);
  if (expr.kind === "Subscript") return again(expr.value);
  const word = lastWord(expr);
  if (expr.kind === "Call") {
    const called = lastWord(expr.func);
    if (PASSES.test(called)) return expr.args.some(({ value }) => again(value));
    return /loaders?$/i.test(called) && !NO_LOADER.test(called);
  }
  if (LOADER.test(word) && !NO_LOADER.test(word)) return true;
  if (expr.kind !== "Name") return false;
  return file.scopes
    .reaching(expr)
    .some(
      ({ how, value }) =>
        value?.kind === "Call" && (how === "assign" || how === "with" || how === "unpack") && again(value),
    );
}

/** `batch`, `data_dict`, `samples` */
const BATCH =
  /^(?:mini_?)?batch(?:es|ed)?(?:_(?:data|dict|inputs?|x|y|samples?|items?))?$|^(?:data|input|sample|model)_(?:batch|dict|inputs?)$|^(?:samples?|inputs|data)$/;

/** A batch as a loader hands it out, or a part of one: nothing has sent it yet. */
export function likelyBatch(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 6) return false;
  const again = (inner: Expr): boolean => likelyBatch(inner, file, depth + 1);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls)
    return (attributesOf(cls, file).get(own!)?.writes ?? []).some(
      ({ value }) => value !== null && again(value),
    );
  if (expr.kind === "Subscript" || expr.kind === "Attribute" || expr.kind === "Starred")
    return again(expr.value);
  if (expr.kind === "IfExp") return again(expr.body) || again(expr.orelse);
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.length > 0 && expr.items.every(again);
  if (expr.kind === "Comp") return again(expr.value ?? expr.element);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "Call") {
    const from = nextOf(expr, file);
    if (from) return likelyLoader(from, file);
    const { func } = expr;
    if (file.dotted(func) === "torch.autograd.Variable")
      return expr.args[0] !== undefined && again(expr.args[0].value);
    if (
      /^(?:builtins\.(?:list|tuple|dict|zip|map|enumerate)|torch\.(?:flip|rot90|roll|unsqueeze|as_tensor|split|chunk|unbind|narrow|transpose|permute))$/.test(
        file.dotted(func) ?? "",
      )
    )
      return expr.args.some(({ value }) => value.kind !== "Lambda" && again(value));
    return (
      func.kind === "Attribute" &&
      !/^(?:to|cuda)$/.test(func.attr) &&
      (METHODS.has(func.attr) ||
        /^(?:items|values|get|pop|float|long|half|type|pin_memory)$/.test(func.attr)) &&
      again(func.value)
    );
  }
  if (expr.kind !== "Name") return false;
  const made = file.scopes
    .reaching(expr)
    .filter(({ value }) => !value || !(value.start <= expr.start && expr.end <= value.end));
  return made.some((one) => isOfLoader(one, file, depth));
}

function isOfLoader(one: Definition, file: PythonFile, depth: number): boolean {
  const { how, name, index, node, value } = one;
  const again = (inner: Expr): boolean => likelyBatch(inner, file, depth + 1);
  if (how === "param") {
    const given = handedIn(one, file, true);
    if (given.length > 0) return given.some(again);
    const fn = functionOf(node) ?? node.parent;
    return (
      BATCH.test(name) &&
      !(fn?.kind === "FunctionDef" && /^(?:__\w+__|forward|collate\w*|\w*loss\w*)$/.test(fn.name))
    );
  }
  if (!value) return false;
  if (how === "iterate") return likelyLoader(value, file) || again(value);
  if (how !== "assign" && how !== "unpack") return false;
  if (how === "unpack" && value.kind === "Tuple" && index !== null)
    return value.items[index] !== undefined && again(value.items[index]);
  return again(value);
}

/** A class whose instances a loader is given, by its base, its methods or its name. */
export function likelyDataset(cls: ClassDef, facts: Facts): boolean {
  if (facts.role(cls) === "dataset") return true;
  if (/Loader|Prefetch/.test(cls.name) && !methodsOf(cls).some(({ name }) => name === "__getitem__"))
    return false;
  const reads = methodsOf(cls).some(({ name }) => /^__(?:getitem|getitems|iter)__$/.test(name));
  return (
    reads &&
    facts.role(cls) === "other" &&
    (isIndexed(cls, facts.file) ||
      /data|set$|corpus|folder|loader|reader|images?$|pairs$/i.test(cls.name) ||
      cls.args.some(({ value }) => /Dataset|Folder|Base|DataPipe/i.test(facts.file.textOf(value)))) &&
    !/Sampler|Buffer|Memory|Replay|Vocab|Tokenizer|Config|Module|List$|Dict$|Logger|Camera|Controller|Trajectory|Info$|Spec$/i.test(
      cls.name,
    )
  );
}

/** Whether a loader of the program has workers, or an option asks for some. */
export function likelyWorkers({ file, project }: Facts): boolean {
  return (
    project.staffed.has(file.module) ||
    (project.files <= ONE_PROGRAM &&
      (project.staffed.size > 0 || WORKERS.some((name) => Number(project.options.get(name) ?? 0) > 0)))
  );
}

const WORKERS = [
  "num_workers",
  "workers",
  "n_workers",
  "num_threads",
  "nThreads",
  "n_threads",
  "n_cpu",
  "nw",
];

/** Whether a loader of the program pins its batches, or may. */
export function likelyPins(facts: Facts): boolean {
  const { file, pins, project } = facts;
  if (project.options.get("pin_memory") === false) return false;
  return (
    pins !== null ||
    file.says(/pin_mem(?:ory)?["']?\s*[=:]\s*(?!False|None|bool)/) ||
    (project.files <= ONE_PROGRAM && project.pinning.size > 0)
  );
}

/** `if it is None:`, `if step % len(loader) == 0:`, `if epoch == 0:`, an `except`: now and then, by what it asks. */
export function isOccasional(node: Node, within: Node | null, file: PythonFile): boolean {
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "Lambda") return false;
    if (at.kind === "Handler" || at.kind === "IfExp") return true;
    if (at.kind === "If" && child !== at.test && OCCASION.test(file.textOf(at.test))) return true;
  }
  return false;
}

const OCCASION =
  /%|\bNone\b|\blen\(|not\b|step|iter|epoch|idx|index|\bi\b|first|last|done|finished|exhaust|stop|start|resum|hasattr|==|[<>]/;

/** What trains, by its name, where it is called in a loop. */
const TRAINS = /\b(?:(?:\w+\.)*(?:step|backward)|(?:\w*[._])?(?:train|fit|update|optimi[sz]e|learn)\w*)\(/;

/** What each turn has data of its own for: folds, datasets, tasks, stages. */
const APART =
  /fold|task|seed|split|stage|phase|dataset|domain|client|config|trial|subset|scale|resolution|size|param|model|loader|level|class|shard|chunk|file|path|part\b|run\b|exp(?:eriment)?s?\b|kf\b/i;

/** A loop that trains in each turn, and with the same data: over epochs, steps or batches. */
export function repeatsTraining(loop: For | While, file: PythonFile): boolean {
  if (!TRAINS.test(file.codeOf(loop))) return false;
  if (loop.kind === "While") return true;
  const [target, over] = [file.textOf(loop.target), file.textOf(loop.iter)];
  return (
    !APART.test(`${target} ${over}`) ||
    /epoch|\bn?_?iters?\b|step/i.test(`${target} ${over}`) ||
    (likelyLoader(loop.iter, file) && !/load/i.test(target))
  );
}

/** What lists of records with several fields are called; names, paths and single texts are few bytes each. */
const RECORDS =
  /^(?:\w+_)?(?:samples?|records?|examples?|pairs|items|annotations?|annos?|rows|entries|dialogs?|dialogues?|conversations|data_?dicts?|questions|documents|docs|utterances)$/i;

/** What keeps names, paths and the like, whatever it is made of. */
export const NAMES =
  /(?:file|path|name|url|uri|dir|folder|image|img|audio|wav|video|mel)s?$|(?:^|_)(?:ids?|keys?|list)$/i;

/** A list or dict with a Python object of several parts for each example: read, split, made one by one, handed in under such a name. */
export function likelyObjects(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  const { file } = facts;
  const again = (inner: Expr): boolean => likelyObjects(inner, facts, depth + 1);
  if (expr.kind === "Comp")
    return expr.flavour !== "set" && isRecord(expr.value ?? expr.element, facts) && !isShort(expr, facts);
  if (expr.kind === "Binary") return expr.op === "+" && (again(expr.left) || again(expr.right));
  if (expr.kind === "Subscript") return expr.index.kind === "Slice" && again(expr.value);
  if (expr.kind === "Call") {
    const name = file.dotted(expr.func) ?? "";
    const word = lastWord(expr.func);
    if (/^(?:numpy|torch|pandas|datasets|h5py|zarr|pyarrow|lmdb)\./.test(name)) return false;
    if (/^(?:list|sorted|tuple)$/.test(word))
      return expr.args[0] !== undefined && isMany(expr.args[0].value, facts, depth);
    return (
      /^(?:tolist|to_dict)$/.test(word) ||
      /^(?:json|pickle|yaml|orjson|csv)\.\w*(?:loads?|reader)$/i.test(name)
    );
  }
  if (expr.kind !== "Name") return false;
  return file.scopes.reaching(expr).some(({ how, name, node, value }) => {
    if (how === "param") return node.kind === "Param" && isRecords(name, node.annotation, file);
    return (
      how === "assign" &&
      value !== null &&
      !value.parent?.kind.startsWith("Aug") &&
      (again(value) || isFilled(value, name, facts))
    );
  });
}

/** A parameter that is called like records, or is said to be a list of dicts or tuples. */
function isRecords(name: string, said: Expr | null, file: PythonFile): boolean {
  return said
    ? /^(?:typing\.)?(?:list|sequence|iterable|dict)\b.*\b(?:dict|tuple|list|mapping|any)\b/i.test(
        file.textOf(said),
      )
    : RECORDS.test(name) && !NAMES.test(name);
}

/** `{"text": one.text, …}`, `(path, label)`, `line.split(",")`, `json.loads(line)`, `text[at : at + length]`: an object of its own for each, that has several parts. */
export function isRecord(expr: Expr, { file }: Facts): boolean {
  if (expr.kind === "Dict" || expr.kind === "Tuple" || expr.kind === "List") return true;
  if (expr.kind === "Comp") return true;
  if (expr.kind === "Subscript") return expr.index.kind === "Slice";
  return (
    expr.kind === "Call" &&
    (/^(?:builtins\.(?:dict|tuple|list)|(?:json|orjson|pickle|yaml)\.\w*loads?)$/.test(
      file.dotted(expr.func) ?? "",
    ) ||
      /^(?:split|tolist|to_dict|groups|_asdict)$/.test(lastWord(expr.func)))
  );
}

/** `rows = []`, and `rows.append({…})` in a loop. */
function isFilled(value: Expr, name: string, facts: Facts): boolean {
  return (
    value.kind === "List" &&
    value.items.length === 0 &&
    facts.file
      .callsNamed("append", "extend")
      .some(
        ({ func, args }) =>
          func.kind === "Attribute" &&
          func.value.kind === "Name" &&
          func.value.id === name &&
          functionOf(func) === functionOf(value) &&
          args[0] !== undefined &&
          isRecord(args[0].value, facts),
      )
  );
}

function isMany(expr: Expr, facts: Facts, depth: number): boolean {
  if (likelyObjects(expr, facts, depth + 1)) return true;
  return expr.kind === "Call" && /^(?:zip|items|reader|DictReader)$/.test(lastWord(expr.func));
}

/** `[… for _ in range(4)]`, `[make(k) for k in ("a", "b")]` */
function isShort({ clauses }: Comp, { file }: Facts): boolean {
  const over = clauses[0]?.iter;
  return (
    over === undefined ||
    over.kind === "Tuple" ||
    over.kind === "List" ||
    /class|categor|\bkeys?\b|^range\(\d+\)$|layer|scale|split/i.test(file.textOf(over))
  );
}

/** What the loops around go through is made in this file and does not pin; or it is a class or function of the file, which may send. */
export function isKnownUnpinned(node: Node, facts: Facts): boolean {
  const { file } = facts;
  return loopsAround(node).some((loop) => {
    if (loop.kind !== "For") return false;
    const over = unwrapped(loop.iter);
    if (over.kind === "Call" && file.dotted(over.func)?.startsWith(`${file.module}.`) === true)
      return (
        !isTrue(keyword(over, "pin_memory")?.value ?? null) ||
        /^Sen[dt]|device|cuda|gpu|prefetch/i.test(lastWord(over.func))
      );
    return loadersOf(over, facts)?.every((call) => !mayPin(call, file)) ?? false;
  });
}

/** `loader` of `enumerate(tqdm(loader))`. */
function unwrapped(iter: Expr): Expr {
  const inner = iter.kind === "Call" && PASSES.test(lastWord(iter.func)) ? iter.args[0]?.value : undefined;
  return inner ? unwrapped(inner) : iter;
}
