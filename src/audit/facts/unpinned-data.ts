import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import type { Programs } from "./programs.ts";
import type { FileSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";
import { classesMade, isIndexed } from "./worker-data.ts";

/** Before the name of a dataset whose examples are words. */
const WORDS = "~";

/**
 * What makes examples that cannot be pinned: datasets, and what transforms examples, that put them on a device, and datasets of
 * nothing but words, which there is no use in pinning.
 */
export interface Unpinned {
  readonly names: readonly string[];
  /** Modules of programs in which something puts examples on a device. */
  readonly programs: ReadonlySet<string>;
}

export function unpinnedOf(summaries: readonly FileSummary[], programs: Programs): Unpinned {
  return {
    names: summaries.flatMap(({ unpinned }) => unpinned ?? []),
    programs: programs.with(({ unpinned }) => unpinned?.some((name) => !name.startsWith(WORDS)) === true),
  };
}

/** The qualified names of such classes of a file. */
export function unpinnedData(file: PythonFile): readonly string[] | undefined {
  const found = new Map<string, string>();
  for (const cls of file.all("ClassDef")) {
    const name = file.qualified(cls);
    const bases = cls.args.flatMap(({ value }) => file.dotted(value) ?? []);
    const inherited = bases.flatMap((base) => found.get(base) ?? []);
    if (sendsExamples(cls, bases, file) || inherited.some((mark) => mark === "")) found.set(name, "");
    else if (handsOutWords(cls)) found.set(name, WORDS);
  }
  return found.size > 0 ? [...found].map(([name, mark]) => mark + name) : undefined;
}

/** Not `self.device = device`: what keeps a device may never send anything to it. */
const SENDS =
  /\.cuda\(|\.to\(\s*(?:device\s*=\s*)?(?:[\w.]*(?:device|gpu)\b|["']cuda|torch\.device\()|(?<!\.)\bdevice\s*=\s*(?:[\w.]*device\b|["']cuda)/i;

/** `return row.cuda()` of what hands out an example, or of a transform that is called with one. */
function sendsExamples(cls: ClassDef, bases: readonly string[], file: PythonFile): boolean {
  if (bases.some((base) => /Module$|Trainer$/.test(base))) return false;
  const methods = methodsOf(cls);
  // What a tokenizer hands out has items too, and goes to a device when it is told to.
  const isDataset =
    methods.some(({ name }) => name === "__getitem__") &&
    (isIndexed(cls, file) || bases.some((base) => /Data(?:set)?$/.test(base)));
  if (!isDataset && !(TRANSFORMS.test(cls.name) && methods.some(({ name }) => name === "__call__")))
    return false;
  return methods.some(
    (fn) =>
      !/collate|^(?:to|cuda)(?:_|$)/.test(fn.name) &&
      fn.body.some((one) => SENDS.test(file.codeOf(one)) && !/\.cpu\(\)/.test(file.codeOf(one))),
  );
}

const TRANSFORMS = /transform|cuda|gpu|device|augment|totensor/i;

/** All that `__getitem__` hands out is a prompt, and which one it is: `{"prompt": self.prompt, "index": index}`. */
function handsOutWords(cls: ClassDef): boolean {
  const fn = methodsOf(cls).find(({ name }) => name === "__getitem__");
  return fn !== undefined && readsWords(fn);
}

function readsWords(fn: FunctionDef): boolean {
  const [own, index] = fn.params;
  let words = 0;
  for (const one of expressionsOf(fn)) {
    if (one.kind === "Call") return false;
    const read = one.kind === "Attribute" ? selfAttribute(one) : null;
    if (read !== null && !/^(?:\w*_)?(?:prompt|caption|sentence|question)s?$/.test(read)) return false;
    if (read !== null) words++;
  }
  return own !== undefined && index !== undefined && words > 0;
}

function expressionsOf(fn: FunctionDef): readonly Expr[] {
  return fn.body.flatMap((one) => {
    if (one.kind === "Assign") return partsOf(one.value);
    return one.kind === "Return" && one.value ? partsOf(one.value) : [];
  });
}

/** The values of a dict or a tuple, and an attribute of which one item is taken. */
function partsOf(value: Expr): readonly Expr[] {
  if (value.kind === "Dict") return value.values.flatMap((one) => (one ? partsOf(one) : []));
  if (value.kind === "Tuple") return value.items.flatMap(partsOf);
  return value.kind === "Subscript" ? partsOf(value.value) : [value];
}

/**
 * Whether the batches of a loader may be pinned: "no" where its dataset is seen to put examples on the device, or to have none
 * but words; "unknown" where the program has something that does and nobody sees that it is not for this one.
 */
export function mayPinBatches(loader: Call, { file, project }: Facts): "yes" | "no" | "unknown" {
  const { names, programs } = project.unpinned;
  if (names.length === 0) return "yes";
  const data = keyword(loader, "dataset")?.value ?? positional(loader, 0);
  const classes = data ? [...classesMade(data, file).keys()] : [];
  const isAmong = (cls: string, mark: string): boolean => {
    const here = file.all("ClassDef").some((one) => file.qualified(one) === cls);
    return names.some((name) =>
      here ? name === mark + cls : name.startsWith(WORDS) === (mark === WORDS) && last(name) === last(cls),
    );
  };
  const areAll = (mark: string): boolean => classes.length > 0 && classes.every((cls) => isAmong(cls, mark));
  if (areAll(WORDS)) return "no";
  if (!programs.has(file.module)) return "yes";
  if (areAll("")) return "no";
  const spoken = names.some((name) => !name.startsWith(WORDS) && file.mentions(last(name)));
  return !spoken && classes.length > 0 && classes.every((cls) => isCapital(last(cls))) ? "yes" : "unknown";
}
