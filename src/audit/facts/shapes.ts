import { argument, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node, Slice } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { cutsOwnSides, drawsSizes, handsOutWholeImages, roundsOwnSides } from "./own-sizes.ts";
import { callsOf, returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

const COLLATORS = /^DataCollator/;

const PADS_SEQUENCES = /^torch\.nn\.utils\.rnn\.(?:pad_sequence|pack_padded_sequence)$/;

const DETECTORS = /rcnn|retinanet|fcos/;

/**
 * Batches padded to their own longest member, or resized at random or by their own sides: each is a new shape. `isOff`: what
 * an option that is off by default keeps from being resized at random.
 */
export function shapesVary(file: PythonFile, isOff: (node: Node) => boolean = () => false): boolean {
  return (
    file
      .callsNamed("pad_sequence", "pack_padded_sequence")
      .some((call) => PADS_SEQUENCES.test(file.dotted(call.func) ?? "")) ||
    file.calls.given(["collate_fn"]).some((call) => {
      const { value } = keyword(call, "collate_fn")!;
      // `collate_fn=partial(pad_sequence, batch_first=True)`
      const by =
        value.kind === "Call" && file.dotted(value.func) === "functools.partial"
          ? positional(value, 0)
          : value;
      return by !== null && PADS_SEQUENCES.test(file.dotted(by) ?? "");
    }) ||
    file.calls
      .matching(COLLATORS)
      .some((call) =>
        /^transformers\.DataCollator(?:WithPadding|ForSeq2Seq|ForTokenClassification|CTCWithPadding)$/.test(
          file.dotted(call.func) ?? "",
        ),
      ) ||
    file.calls.given(["padding"]).some((call) => {
      const { value } = keyword(call, "padding")!;
      const kept = keptPadding(value, file);
      return isLongest(value, call) || (kept !== null && isLongest(kept, call) && !isPaddedAlike(file));
    }) ||
    file.callsNamed("pad").some((call) => isPaddedByDefault(call, file)) ||
    // Detectors resize each image by its own sides.
    file.calls
      .matching(DETECTORS)
      .some((call) => /^torchvision\.models\.detection\.\w+$/.test(file.dotted(call.func) ?? "")) ||
    resizesIn(file).some(
      (call) =>
        (isRandomResize(call, file) && !isOff(call)) ||
        isResizedBySide(call, file) ||
        isImageResizedBySide(call, file),
    ) ||
    file.calls
      .matching(RESCALES)
      .some((call) => file.mentions("rand") && isRescaledInStep(call, file) && !isOff(call)) ||
    padsToLongest(file) ||
    file.callsNamed("max").some((call) => isLongestGiven(call, file)) ||
    file.calls.matching(MAXIMA).some((call) => isLargestCollated(call, file)) ||
    handsOutWholeImages(file) ||
    roundsOwnSides(file) ||
    cutsOwnSides(file) ||
    drawsSizes(file, (expr) => isRandom(expr, file, 0)) ||
    (file.mentions("rand") &&
      file.all("Slice").some((slice) => isOfRandomLength(slice, file) && isInExamples(slice, file)))
  );
}

/** Recordings are as long as they are, in an evaluation if not before; pictures one at a time, of which nothing is cut. */
const OPENS_SOUND =
  /\b(?:soundfile|sf)\.read\(|librosa\.(?:core\.)?load\(|torchaudio\.load\(|wavfile\.read\(/;
const TAKES_ONE = /\bbatch_size\s*=\s*1\b/;
const CUTS_ALIKE = /Resize|Crop|interpolate\(/;

/** What pads, groups by length or resizes at random, by its name. */
const VARIES = [
  "pad_packed",
  "pack_padded",
  "pad_sequence",
  "pad_to_max",
  "pad_to_longest",
  "BucketIterator",
  "batch_by_size",
  "batch_by_length",
  "nested_tensor",
  "RandomResize(",
  "ResizeShortestEdge",
];

/** The same by more than a name, each looked for only where one of its words is: to look for a word takes a tenth of the time. */
const MAY_VARY: readonly (readonly [words: readonly string[], pattern: RegExp])[] = [
  [
    ["= max(", "=max("],
    /(?:max|longest)_?\w*\s*=\s*max\((?:\[|len\(|map\(len|x\.s|\w+\.s(?:hape|ize)[^\n]* for )/,
  ],
  [["ucket"], /[Bb]ucket\w*(?:Sampler|Batch)/],
  [["ulti"], /[Mm]ulti_?[Ss]cale_?(?:[Tt]rain|[Rr]esize|[Aa]ug|[Cc]rop)/],
  [["random"], /random_?(?:resize|rescale|size|length)\w*\(/],
  [
    ["randint(", "choice(", "randrange(", "uniform("],
    /(?:size|len|length|frames)s?\s*=\s*(?:int\()?(?:\w+\.)*(?:randint|choice|randrange|uniform)\(/,
  ],
  [["sf.read(", "soundfile.read(", "librosa", "torchaudio.load(", "wavfile.read("], OPENS_SOUND],
];

/** What may well bring batches of varying shapes. */
export function shapesMayVary(file: PythonFile): boolean {
  const mentions = (word: string): boolean => file.mentions(word);
  return (
    VARIES.some(mentions) ||
    MAY_VARY.some(([words, pattern]) => words.some(mentions) && file.says(pattern)) ||
    (file.mentions("Compose(") && file.says(TAKES_ONE) && !file.says(CUTS_ALIKE))
  );
}

/** `padding="longest"`, `processor(text=texts, images=images, padding=True, return_tensors="pt")` */
function isLongest(padding: Expr, call: Call): boolean {
  return padding.kind === "Str"
    ? padding.value === "longest"
    : isTrue(padding) && keyword(call, "return_tensors") !== null;
}

/** What `self.padding` of a collator, or a parameter of that name, is unless somebody says otherwise: `padding: bool | str = "longest"`. */
function keptPadding(value: Expr, file: PythonFile): Expr | null {
  const own = selfAttribute(value);
  const cls = own === null ? null : classOf(value);
  const [given, ...more] = value.kind === "Name" ? file.scopes.reaching(value) : [];
  if (given?.node.kind === "Param" && more.length === 0) return given.node.default;
  if (!cls) return null;
  for (const member of cls.body) {
    const [field] = member.kind === "Assign" ? member.targets : [];
    if (member.kind === "Assign" && field?.kind === "Name" && field.id === own) return member.value;
    // `def __init__(self, processor, padding=True):`
    const param =
      member.kind === "FunctionDef" && member.name === "__init__"
        ? member.params.find(({ name }) => name === own)
        : undefined;
    if (param) return param.default;
  }
  return null;
}

/** `Collator(processor, padding="max_length")`: whoever makes one here wants batches of one length. */
function isPaddedAlike(file: PythonFile): boolean {
  return file.calls.given(["padding"]).some((call) => {
    const { value } = keyword(call, "padding")!;
    return value.kind === "Str" && value.value === "max_length";
  });
}

/**
 * `self.feature_extractor.pad(features, return_tensors="pt")`: to the longest, where nothing is said. Whisper's features are of
 * one length, and only its labels are not; `max_length` may say the same of others.
 */
function isPaddedByDefault(call: Call, file: PythonFile): boolean {
  return (
    call.func.kind === "Attribute" &&
    /(?:^|_)(?:tokenizer|processor|feature_extractor|extractor)$/.test(lastWord(call.func.value)) &&
    keyword(call, "return_tensors") !== null &&
    keyword(call, "padding") === null &&
    keyword(call, "max_length") === null &&
    !file.says(/whisper/i)
  );
}

/** `wave[..., :n]`, `wave[n:]`, with another n each time. */
export function isCutAnywhere({ lower, upper }: Slice, file: PythonFile): boolean {
  if (!upper || !isRandom(upper, file, 0)) return !upper && lower !== null && isRandom(lower, file, 0);
  return lower === null || !isRandom(lower, file, 0);
}

/**
 * `mel[at : at + n]` with another n each time, wherever it begins. What is written to, as a mask's stripe, keeps its shape,
 * and so does what is resized or padded afterwards.
 */
export function isOfRandomLength(slice: Slice, file: PythonFile): boolean {
  const { lower, upper } = slice;
  if (!upper || !(lower ? isRandomSpan(lower, upper, file) : isDrawn(upper, file))) return false;
  const statement = statementOf(slice);
  const isWritten =
    statement?.kind === "AugAssign" ||
    statement?.kind === "Delete" ||
    (statement?.kind === "Assign" && statement.targets.some(({ kind }) => kind === "Subscript")) ||
    (statement?.kind === "ExprStmt" && /\]\.\w+_\(/.test(file.textOf(statement)));
  const fn = functionOf(slice);
  const below = fn ? file.codeOf({ start: slice.end, end: fn.end }) : "";
  return !isWritten && !ONE_SIZE_AGAIN.test(below);
}

/** `x[:, : lengths.max()]`, also by `longest = mask.sum(1).max().item()`: a batch is cut to the longest in it. */
export function isCutToLongest({ lower, upper }: Slice, file: PythonFile): boolean {
  return lower === null && upper !== null && isGreatestLength(upper, file);
}

function isGreatestLength(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 4) return false;
  if (expr.kind === "Name") {
    const made = valueOf(expr, file);
    return made !== null && isGreatestLength(made, file, depth + 1);
  }
  if (expr.kind !== "Call") return false;
  const [first] = expr.args;
  const name = file.dotted(expr.func) ?? "";
  if (/^(?:torch\.max|builtins\.max)$/.test(name))
    return first !== undefined && MEASURES.test(file.textOf(first));
  if (name === "builtins.int") return first !== undefined && isGreatestLength(first.value, file, depth + 1);
  if (expr.func.kind !== "Attribute" || expr.args.length > 0) return false;
  return expr.func.attr === "item"
    ? isGreatestLength(expr.func.value, file, depth + 1)
    : expr.func.attr === "max" && MEASURES.test(textBehind(expr.func.value, file));
}

/** How long each row is: `lengths`, `mask.sum(1)`, `(ids != pad).sum(-1)`. */
const MEASURES = /len(?:s|gths?)?\b|mask|!= ?(?:0\b|\w*pad)/i;

const textBehind = (expr: Expr, file: PythonFile): string =>
  `${file.textOf(expr)} ${file.textOf((expr.kind === "Name" ? valueOf(expr, file) : null) ?? expr)}`;

const ONE_SIZE_AGAIN =
  /resi[sz]e|interpolat|upsampl|(?:^|[^a-z])pad(?!ding_mode)|transform|augment|zeros|tile|repeat|paste|canvas/i;

/** Between `start` and `start + n`, or the same number of times each: `start * hop` and `end * hop`. */
function isRandomSpan(lower: Expr, upper: Expr, file: PythonFile, depth = 0): boolean {
  const [from, to] = [lower, upper].map((expr) => (expr.kind === "Name" ? valueOf(expr, file) : expr));
  if (depth > 4 || to?.kind !== "Binary") return false;
  const isFrom = (expr: Expr): boolean => file.textOf(expr) === file.textOf(lower);
  if (to.op === "+")
    return (isFrom(to.left) && isDrawn(to.right, file)) || (isFrom(to.right) && isDrawn(to.left, file));
  return (
    to.op === "*" &&
    from?.kind === "Binary" &&
    from.op === "*" &&
    file.textOf(from.right) === file.textOf(to.right) &&
    isRandomSpan(from.left, to.left, file, depth + 1)
  );
}

function valueOf(name: Name, file: PythonFile): Expr | null {
  const [one, ...more] = file.scopes.reaching(name);
  return one?.how === "assign" && more.length === 0 ? one.value : null;
}

/** Drawn at random, here or by those who call this function with it. */
function isDrawn(expr: Expr, file: PythonFile): boolean {
  if (isRandom(expr, file, 0)) return true;
  const [given, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  const fn = given?.how === "param" && more.length === 0 ? given.node.parent : null;
  if (fn?.kind !== "FunctionDef") return false;
  const at = fn.params.findIndex(({ name }) => name === given!.name);
  const shift = fn.params[0]?.name === "self" ? 1 : 0;
  return callsOf(fn, file).some((call) => {
    const value = argument(call, given!.name, at - shift);
    return value !== null && isRandom(value, file, 0);
  });
}

/** Where examples are made: by a dataset's class, by what puts batches together, or by a function that these call. */
function isInExamples(node: Node, file: PythonFile, depth = 0): boolean {
  const fn = functionOf(node);
  if (fn?.kind !== "FunctionDef") return false;
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent : null;
  return (
    isCollate(fn, file) ||
    (cls !== null &&
      cls.body.some((member) => member.kind === "FunctionDef" && member.name === "__getitem__")) ||
    (depth < 2 && callsOf(fn, file).some((call) => isInExamples(call, file, depth + 1)))
  );
}

const RESIZES =
  /^(?:torch\.nn\.functional\.(?:interpolate|upsample)|(?:torchvision\.transforms\.(?:v2\.)?functional|kornia(?:\.geometry)?(?:\.transform)?)\.(?:resize|center_crop))$/;

/** `Resize(side)(images)`, applied where it is made; one that is kept has the size that it was made with. */
const RESIZERS =
  /^(?:torchvision\.transforms\.(?:v2\.)?(?:Resize|CenterCrop|RandomCrop)|torch\.nn\.Upsample)$/;

/** What `shapesVary` looks at, by the last word. */
const RESIZING = [
  "interpolate",
  "upsample",
  "resize",
  "center_crop",
  "crop",
  "Resize",
  "CenterCrop",
  "RandomCrop",
  "Upsample",
] as const;

/** Calls that may give a batch another size. */
export function resizesIn(file: PythonFile): readonly Call[] {
  return file.callsNamed(...RESIZING);
}

function sizesOf(call: Call, file: PythonFile): readonly Expr[] {
  const name = file.dotted(call.func) ?? "";
  const isApplied = call.parent?.kind === "Call" && call.parent.func === call;
  const isSize = (given: string | null, at: number): boolean => {
    if (given === "size" || given === "scale_factor") return true;
    if (RESIZERS.test(name)) return given === null && at === 0;
    // `crop(image, top, left, height, width)`
    if (name.endsWith(".crop"))
      return given === "height" || given === "width" || (given === null && (at === 3 || at === 4));
    return given === null && (at === 1 || at === 2);
  };
  const isResize =
    RESIZES.test(name) ||
    (RESIZERS.test(name) && isApplied) ||
    /^torchvision\.transforms\.(?:v2\.)?functional\.crop$/.test(name);
  return isResize
    ? call.args.flatMap(({ name: given, value }, at) => (isSize(given, at) ? [value] : []))
    : [];
}

export function isRandomResize(call: Call, file: PythonFile): boolean {
  return (
    sizesOf(call, file)
      .flatMap((size) => (size.kind === "Tuple" || size.kind === "List" ? size.items : [size]))
      .some((size) => isDrawn(size, file)) &&
    // What cuts to a size of its own is that crop itself: `def random_crop(x): return center_crop(x, (h, w))`.
    !file.once(crops).some((crop) => !CUTS.test(lastWord(call.func)) || !contains(crop, call))
  );
}

/** What a function of another file is called that gives a batch another size. */
const RESCALES = /(?:^|_)(?:re(?:size|scale)|interpolate|multi_?scale)/i;

/** `images, targets = rescale(images, targets, side)` beside the backward, with a side that is drawn there. */
function isRescaledInStep(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  return (
    fn !== null &&
    !RESIZES.test(file.dotted(call.func) ?? "") &&
    call.args.some(({ value }) => value.kind === "Name" && isRandom(value, file, 0)) &&
    file.callsNamed("backward").some((backward) => functionOf(backward) === fn)
  );
}

const CUTS = /crop/i;

/** `def random_crop(clip, size):` beside `def jitter(clip, least, most):`: what one resizes at random, the other cuts to one size. */
function crops(file: PythonFile): readonly Node[] {
  return [...file.all("FunctionDef"), ...file.all("ClassDef")].filter(({ name }) => CUTS.test(name));
}

/** By `min(shortest / h, longest / w)`: another size for each image. */
function isResizedBySide(call: Call, file: PythonFile): boolean {
  return sizesOf(call, file).some((size) => isRatio(size, file, 0));
}

/** The same by `cv2.resize`, `skimage.transform.resize` or `image.resize`; where something is cut or padded, all may become one size again. */
function isImageResizedBySide(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func);
  const size =
    name === null
      ? call.func.kind === "Attribute" && call.func.attr === "resize"
        ? argument(call, "size", 0)
        : null
      : /^cv2\.resize$|^skimage\.transform\.(?:\w+\.)?resize$/.test(name)
        ? positional(call, 1)
        : null;
  return size !== null && isRatio(size, file, 0) && !file.says(ONE_SIZE);
}

const ONE_SIZE = /crop|pad(?!ding_mode)|border|paste|letterbox|canvas/i;

function isRatio(expr: Expr, file: PythonFile, depth: number): boolean {
  if (depth > 8) return false;
  const again = (inner: Expr): boolean => isRatio(inner, file, depth + 1);
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.some(again);
  if (expr.kind === "Comp") return again(expr.element);
  if (expr.kind === "Binary")
    return (
      again(expr.left) ||
      again(expr.right) ||
      (expr.op === "/" && isOfSides(expr.right, file) && !file.says(ONE_SIZE))
    );
  if (expr.kind === "IfExp") return isByEitherSide(expr.test, expr.body, expr.orelse, file);
  if (expr.kind === "Name")
    return file.scopes
      .reaching(expr)
      .some(
        (one) =>
          one.how === "assign" && one.value !== null && (again(one.value) || isRatioOfBranches(one, file)),
      );
  if (expr.kind !== "Call") return false;
  // `scale = scale_for(image.width, image.height, shortest)`, by a function of this file.
  if ((file.once(returnsByName).get(callTarget(expr, file) ?? "") ?? []).some(again)) return true;
  const name = file.dotted(expr.func) ?? "";
  if (/^builtins\.(?:min|max)$/.test(name))
    return (
      expr.args.length === 2 &&
      expr.args.every(({ value }) => {
        const side = (value.kind === "Name" ? file.scopes.onlyValue(value) : null) ?? value;
        return side.kind === "Binary" && side.op === "/";
      })
    );
  return (
    /^(?:builtins\.(?:int|round)|math\.(?:ceil|floor))$/.test(name) &&
    expr.args.some(({ value }) => again(value))
  );
}

/** `scale = shortest / h` under `if w > h:`, of which the other branch has `scale = shortest / w`. */
function isRatioOfBranches({ name, node, value }: Definition, file: PythonFile): boolean {
  const statement = statementOf(node);
  const branch = statement?.parent;
  if (branch?.kind !== "If" || !value || !branch.body.includes(statement!)) return false;
  return branch.orelse.some((other) => {
    const [target] = other.kind === "Assign" ? other.targets : [];
    return (
      other.kind === "Assign" &&
      target?.kind === "Name" &&
      target.id === name &&
      isByEitherSide(branch.test, value, other.value, file)
    );
  });
}

/** `shortest / h if w > h else shortest / w`: what is compared is what one of them is divided by, as by `min(h, w)`. */
function isByEitherSide(test: Expr, one: Expr, other: Expr, file: PythonFile): boolean {
  if (test.kind !== "Compare" || test.rights.length !== 1 || !/^[<>]=?$/.test(test.ops[0]!)) return false;
  const sides = [one, other].map((ratio) =>
    ratio.kind === "Binary" && ratio.op === "/" ? file.textOf(ratio.right) : "",
  );
  const compared = [test.left, test.rights[0]!].map((side) => file.textOf(side));
  return (
    sides.every((side) => SIDE.test(side)) &&
    sides.toSorted().join() === compared.toSorted().join() &&
    !file.says(ONE_SIZE)
  );
}

/** `h`, `image.width`, `original_height`, `size[0]` */
const SIDE = /^(?:[\w.]*(?:height|width)|(?:\w+_)?(?:[hw]|rows|cols)\d?|[\w.]*(?:shape|size)\[-?\d\])$/i;

/** `min(h, w)`, `max(image.shape[:2])`, also under a name. */
function isOfSides(expr: Expr, file: PythonFile): boolean {
  const sides = (expr.kind === "Name" ? file.scopes.onlyValue(expr) : null) ?? expr;
  return (
    sides.kind === "Call" &&
    /^builtins\.(?:min|max)$/.test(file.dotted(sides.func) ?? "") &&
    /^(?:min|max)\((?:\w*[hw]\w*, \w*[hw]\w*|\*?[\w.]*\.(?:size|shape)\b[^,]*)\)$/i.test(file.textOf(sides))
  );
}

/** `depth`: how many names lie behind it; what a name is set to in a circle would never end. */
function isRandom(expr: Expr, file: PythonFile, depth: number): boolean {
  const again = (inner: Expr): boolean => isRandom(inner, file, depth);
  if (expr.kind === "Tuple" || expr.kind === "List") return expr.items.some(again);
  if (expr.kind === "Name")
    return (
      depth < FARTHEST &&
      file.scopes.reaching(expr).some(({ value }) => value !== null && isRandom(value, file, depth + 1))
    );
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "Subscript") return again(expr.value) || again(expr.index);
  if (expr.kind === "Attribute") return isSetAtRandom(expr, file, depth);
  // `[int(side * random.uniform(0.5, 1.5)) for side in x.shape[-2:]]`
  if (expr.kind === "Comp") return again(expr.element);
  if (expr.kind !== "Call") return false;
  const name = file.dotted(expr.func) ?? "";
  if (/^(?:random|numpy\.random)\.|^torch\.(?:randint|rand|randperm)$/.test(name)) return true;
  // `int(torch.randint(…))`, `math.ceil(side * scale)`, `tuple(…)`; `torch.randint(…).item()`.
  if (KEEPS_CHANCE.test(name)) return expr.args.some(({ value }) => again(value));
  return expr.func.kind === "Attribute" && /^(?:item|tolist|choice|integers)$/.test(expr.func.attr)
    ? again(expr.func.value)
    : false;
}

/** `self.side`, where a method draws another one from time to time: `self.side = random.choice(self.sides)`. */
function isSetAtRandom(expr: Expr, file: PythonFile, depth: number): boolean {
  const own = file.mentions("rand") && depth < FARTHEST ? selfAttribute(expr) : null;
  const cls = own === null ? null : classOf(expr);
  return (
    cls !== null &&
    (attributesOf(cls, file).get(own!)?.writes ?? []).some(
      ({ in: within, value }) =>
        within.name !== "__init__" && value !== null && isRandom(value, file, depth + 1),
    )
  );
}

const FARTHEST = 5;

/** What makes a size of a number or of several, and leaves it as random as these were. */
const KEEPS_CHANCE = /^(?:builtins\.(?:int|round|tuple|list|max|min)|(?:math|numpy)\.(?:ceil|floor))$/;

/** Named so, handed to a loader as its `collate_fn`, or called by a class that is. */
function isCollate(fn: FunctionDef, file: PythonFile): boolean {
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent.name : "";
  return (
    /collate|pad_batch|make_batch/i.test(fn.name) ||
    (fn.name === "__call__" && /collat|pad/i.test(cls)) ||
    file.calls.given(["collate_fn"]).some((call) => {
      const given = keyword(call, "collate_fn")!.value;
      return given.kind === "Name" && file.dotted(given) === file.qualified(fn);
    })
  );
}

/**
 * `max(len(x) for x in batch)`, or of a list of lengths, where batches are put together; `min` where one is cut to its shortest;
 * `batch = sorted(batch, key=len, reverse=True)`, of which the first says how long all become: `len(batch[0])`.
 */
function padsToLongest(file: PythonFile): boolean {
  const sizes = file
    .callsNamed("max", "min")
    .filter(
      (call) =>
        (call.func.kind === "Attribute" || /^builtins\.m(?:ax|in)$/.test(file.dotted(call.func) ?? "")) &&
        isBySize(call, file) &&
        !isOfBoxes(call, file),
    );
  const sorts = file.callsNamed("sort", "sorted").filter((call) => isFirstMeasured(call, file));
  return (
    sizes.length + sorts.length > 0 &&
    file
      .all("FunctionDef")
      .some((fn) => [...sizes, ...sorts].some((call) => contains(fn, call)) && isCollate(fn, file))
  );
}

/** `max(len(one) for one in labels)` beside `torch.stack(images)`: as many boxes as there are, on pictures that are all alike. */
function isOfBoxes(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  return (
    fn !== null &&
    /\bin (?:range\(len\()?\w*(?:labels?|box(?:es)?|annots?|annotations)\b/.test(file.textOf(call)) &&
    /\bstack\(\[?\s*(?:\w+_)?(?:imgs?|images?|pics?|pictures?|frames?)\b/.test(file.codeOf(fn))
  );
}

/** `max(lengths)`, `max(batch, key=lambda one: one.size(1))`, and the same by a function: `max(batch, key=frames)`. */
function isBySize(call: Call, file: PythonFile): boolean {
  const key = keyword(call, "key")?.value;
  const by = key?.kind === "Name" ? file.scopes.reaching(key).map(({ node }) => node) : [];
  return [call, ...by].some(
    (one) => (one === call || one.kind === "FunctionDef") && SIZE.test(file.textOf(one)),
  );
}

const SIZE = /len|size|shape/i;

/** `batch.sort(key=lambda one: len(one[0]), reverse=True)`, and below it `batch[0][0].size(1)` or `len(batch[0][0])`. */
function isFirstMeasured(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  if (!fn || !isTrue(keyword(call, "reverse")?.value ?? null) || !isBySize(call, file)) return false;
  const statement = statementOf(call);
  const [target] =
    call.func.kind === "Attribute"
      ? [call.func.value]
      : statement?.kind === "Assign"
        ? statement.targets
        : [];
  return (
    target?.kind === "Name" &&
    new RegExp(
      String.raw`\blen\(${target.id}\[0\](?:\[\w+\])?\)|\b${target.id}\[0\](?:\[[^\]\n]+\])?\.(?:size\(|shape\b)`,
    ).test(file.codeOf({ start: call.end, end: fn.end }))
  );
}

/**
 * `longest = max(len(one) for one in inputs)` in a function that is named so, `pad_1d(inputs)`: it makes alike what it is
 * given, wherever batches are put together with it.
 */
function isLongestGiven(call: Call, file: PythonFile): boolean {
  const fn = functionOf(call);
  const [first, ...more] = call.args;
  if (fn?.kind !== "FunctionDef" || !PADS.test(fn.name) || !first || more.length > 0) return false;
  if (file.dotted(call.func) !== "builtins.max") return false;
  // `lengths = [len(one) for one in inputs]`
  const each = (first.value.kind === "Name" ? file.scopes.onlyValue(first.value) : null) ?? first.value;
  const text = file.textOf(each);
  return (
    (each.kind === "Comp"
      ? /len\(|size\(|shape/.test(file.textOf(each.element))
      : text.startsWith("map(len,")) &&
    fn.params.some(({ name }) =>
      new RegExp(String.raw`(?:\bin (?:range\(len\()?|map\(len, )${name}\b`).test(text),
    )
  );
}

/** What a function is called that finds the largest of each side. */
const MAXIMA = /(?:^|_)(?:max|longest|largest)_\w+$|_max$/;

/** `sides = max_by_axis([list(image.shape) for image in images])`, in what puts batches together or is called by it. */
function isLargestCollated(call: Call, file: PythonFile): boolean {
  const each = positional(call, 0);
  return (
    each?.kind === "Comp" &&
    /\.shape\b|\.size\(|\blen\(/.test(file.textOf(each.element)) &&
    (file.dotted(call.func) ?? "").startsWith(`${file.module}.`) &&
    isInExamples(call, file)
  );
}

const PADS = /^_?(?:pad|stack_and_pad)(?:_|\d|$)/;
