import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, Param } from "../../python/tree.ts";
import { literalDict } from "./arguments.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { loopsAround } from "./training.ts";
import { HOST_FACTORIES, last } from "./torch-names.ts";

/** `torch.LongTensor([…])` and its kin. */
export const TENSOR_TYPES = [
  "Tensor",
  "LongTensor",
  "IntTensor",
  "FloatTensor",
  "HalfTensor",
  "BoolTensor",
  "ByteTensor",
];

/**
 * Numbers that Python counts or computes for each call, however many there are: `list(range(n))`,
 * `[i / n for i in range(n)]`, `[0.0] * n + [1.0] * m`, also by a name.
 */
export function isCounted(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => isCounted(inner, facts, depth + 1);
  if (expr.kind === "Name") {
    const [one, ...more] = facts.file.scopes.reaching(expr);
    return (
      one?.how === "assign" &&
      more.length === 0 &&
      one.value !== null &&
      again(one.value) &&
      !grows(one, facts)
    );
  }
  if (expr.kind === "Comp")
    return (
      expr.value === null &&
      expr.clauses.every(({ iter }) => isRange(iter, facts)) &&
      isArithmetic(expr.element, facts)
    );
  if (expr.kind === "Binary") {
    if (expr.op === "+") return [expr.left, expr.right].every((side) => isFilledList(side) || again(side));
    return expr.op === "*" && again(expr.left);
  }
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  if (/^builtins\.(?:list|tuple|reversed|sorted)$/.test(name)) {
    const inner = positional(expr, 0);
    return inner !== null && (isRange(inner, facts) || again(inner));
  }
  // `np.reshape(np.array(range(n)), [1, n, 1, 1])`, `np.arange(n).astype(np.float32)`
  const laidOut = LAYS_OUT.test(name)
    ? positional(expr, 0)
    : name === "" &&
        expr.func.kind === "Attribute" &&
        /^(?:astype|reshape|copy|repeat|tolist)$/.test(expr.func.attr)
      ? expr.func.value
      : null;
  if (laidOut && again(laidOut)) return true;
  return (
    isRange(expr, facts) ||
    (/^numpy\.(?:arange|linspace)$/.test(name) && expr.args.every(({ value }) => isArithmetic(value, facts)))
  );
}

const LAYS_OUT =
  /^numpy\.(?:array|asarray|reshape|expand_dims|tile|repeat|stack|ascontiguousarray|float32|float64)$/;

/** `[0.0] * n` */
function isFilledList(expr: Expr): boolean {
  return (
    expr.kind === "Binary" &&
    expr.op === "*" &&
    expr.left.kind === "List" &&
    expr.left.items.length > 0 &&
    expr.left.items.every(isLiteral)
  );
}

function isRange(expr: Expr, { file }: Facts): boolean {
  return expr.kind === "Call" && file.dotted(expr.func) === "builtins.range";
}

/** Computed with what is counted, by Python's own means; what is taken out of something may be a tensor's. */
function isArithmetic(expr: Expr, facts: Facts): boolean {
  const again = (inner: Expr): boolean => isArithmetic(inner, facts);
  if (expr.kind === "Num") return true;
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Binary") return again(expr.left) && again(expr.right);
  if (expr.kind === "IfExp") return again(expr.body) && again(expr.orelse);
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.length > 0 && expr.items.every(again);
  if (expr.kind === "Comp")
    return (
      expr.value === null && expr.clauses.every(({ iter }) => isRange(iter, facts)) && again(expr.element)
    );
  if (expr.kind === "Call")
    return (
      /^(?:math\.\w+|builtins\.(?:float|int|min|max|abs|round|len|pow))$/.test(
        facts.file.dotted(expr.func) ?? "",
      ) && expr.args.every(({ value }) => again(value) || facts.value(value).what !== "tensor")
    );
  // `bands = spectrum.size(1)`
  return (
    facts.value(expr).what === "number" ||
    ((expr.kind === "Name" || expr.kind === "Attribute") && facts.value(expr).what === "unknown") ||
    isSize(expr) ||
    isNamedSize(expr, facts)
  );
}

/** `x.shape[1]`, `x.size(1)` */
function isSize(expr: Expr): boolean {
  const asked = expr.kind === "Call" ? expr.func : expr.kind === "Subscript" ? expr.value : null;
  return asked?.kind === "Attribute" && asked.attr === (expr.kind === "Call" ? "size" : "shape");
}

/** Also by a name: `n = x.size(0)`, `batch, height, width = x.shape`. */
function isNamedSize(expr: Expr, { file }: Facts): boolean {
  const made = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return (
    made.length > 0 &&
    made.every(({ how, value }) =>
      how === "unpack"
        ? value !== null && areSizes(value)
        : how === "assign" && value !== null && isSize(value),
    )
  );
}

/** `x.shape`, `x.size()`, `x.shape[-2:]` */
function areSizes(expr: Expr): boolean {
  if (expr.kind === "Subscript") return expr.index.kind === "Slice" && areSizes(expr.value);
  const asked = expr.kind === "Call" && expr.args.length === 0 ? expr.func : expr;
  return asked.kind === "Attribute" && asked.attr === (expr.kind === "Call" ? "size" : "shape");
}

/** What a list holds at first says nothing of what is added to it. */
function grows(list: Definition, { file }: Facts): boolean {
  return file.scopes
    .uses(list)
    .some(({ parent }) => parent?.kind === "Attribute" && /^(?:append|extend|insert)$/.test(parent.attr));
}

/** `self.scale`, set when the object was made and never again. */
export function isKeptSetting(expr: Expr, facts: Facts): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (!cls) return false;
  const writes = attributesOf(cls, facts.file).get(own!)?.writes ?? [];
  // Of a class above, which another file has, its name must do.
  if (writes.length === 0)
    return /(?:^|_)(?:gamma|alpha|beta|scale|eps(?:ilon)?|lambda|tau|temperature|kappa)(?:_\w)?$/.test(own!);
  return writes.every(
    ({ in: method, value }) => method.name === "__init__" && value !== null && isPlain(value, facts),
  );
}

/** No tensor, and nothing that holds some: `scale`, `[x * 255 for x in mean]`, `tuple(mean)`. */
function isPlain(value: Expr, facts: Facts): boolean {
  if (value.kind === "Comp")
    return value.flavour !== "dict" && value.element.kind !== "Call" && isPlain(value.element, facts);
  if (value.kind === "Call")
    return (
      /^builtins\.(?:list|tuple)$/.test(facts.file.dotted(value.func) ?? "") &&
      value.args.length === 1 &&
      isPlain(value.args[0]!.value, facts)
    );
  return !/^(?:tensor|output|module|container)$/.test(facts.value(value).what);
}

/** Numbers of Python's own, or a list of them. */
export function isPython(expr: Expr, facts: Facts): boolean {
  if (isKeptSetting(expr, facts)) return true;
  // `[pad]`: an entry of a vocabulary.
  if (expr.kind === "Name" && /^(?:pad|sos|eos|bos|unk|blank)(?:_?(?:id|idx|index|token))?$/.test(expr.id))
    return true;
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.every((item) => isPython(item, facts));
  if (expr.kind === "Comp") return expr.value === null && isPython(expr.element, facts);
  // `[[self.start]] * batch_size`
  if (expr.kind === "Binary" && expr.op === "*" && expr.left.kind === "List") return true;
  // `1.0 / x.size(0)`, `[0.9] + [0.1 / (n - 1)] * (n - 1)`
  if (expr.kind === "Binary" && [expr.left, expr.right].every((side) => isPython(side, facts))) return true;
  if (isSize(expr) || isNamedSize(expr, facts)) return true;
  // `np.sqrt(width)`, `math.log(steps)`
  if (
    expr.kind === "Call" &&
    REDUCES_NUMBERS.test(facts.file.dotted(expr.func) ?? "") &&
    expr.args.every(({ value, star }) => star === 0 && isPython(value, facts))
  )
    return true;
  // `optimizer.param_groups[0]["lr"]`, and `x.shape[-1]`
  if (expr.kind === "Subscript")
    return (
      (expr.index.kind === "Str" && expr.index.value === "lr") ||
      (expr.value.kind === "Attribute" && expr.value.attr === "shape" && expr.index.kind !== "Slice")
    );
  const [one] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  if (one?.how === "param" && one.node.kind === "Param") return saysNumbers(one.node, facts);
  // `weights = [1.0] * len(vocab)`, and perhaps some of them changed.
  const filled = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : null;
  if (filled?.kind === "Binary" && filled.op === "*" && filled.left.kind === "List")
    return filled.left.items.length > 0 && filled.left.items.every(isLiteral);
  return facts.value(expr).what === "number";
}

/** What gives a number for numbers. */
const REDUCES_NUMBERS =
  /^(?:math\.\w+|numpy\.(?:sqrt|log|log2|log10|exp|ceil|floor)|builtins\.(?:float|int|abs|round|max|min|pow))$/;

function isOfConstructor({ parent }: Param): boolean {
  return parent?.kind === "FunctionDef" && parent.name === "__init__";
}

function saysNumbers({ annotation }: Param, { file }: Facts): boolean {
  return annotation !== null && NUMBERS.test(file.textOf(annotation));
}

const NUMBERS =
  /^(?:int|float|(?:typing\.)?(?:list|tuple|List|Tuple|Sequence)\[(?:int|float)(?:, ?(?:int|float|\.\.\.))*\])$/;

/** `torch.tensor([0.0, 1.0])`: the data are literals. */
export function isConstantFactory(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func);
  if (name === null || name !== `torch.${last(name)}`) return false;
  if (!HOST_FACTORIES.has(last(name)) && !TENSOR_TYPES.includes(last(name))) return false;
  const data = positional(call, 0);
  // `torch.FloatTensor(3, 4)` is a shape.
  if (TENSOR_TYPES.includes(last(name)) && data?.kind === "Num") return false;
  return data !== null && (isLiteral(data) || isConstant(data, facts, 0));
}

/** A module's constant, or NumPy's work on literals. */
export function isConstant(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => isConstant(inner, facts, depth + 1);
  if (isLiteral(expr) || isSetting(expr) || isEntry(expr, facts) || isNested(expr, facts)) return true;
  if (expr.kind === "Attribute" && /^(?:numpy|math)\.(?:pi|e|inf)$/.test(facts.file.dotted(expr) ?? ""))
    return true;
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.length > 0 && expr.items.every(again);
  if (expr.kind === "Comp")
    return (
      expr.value === null &&
      // `[[] for _ in range(4)]` is filled afterwards.
      !(expr.element.kind === "List" && expr.element.items.length === 0) &&
      !isDrawn(expr.element, facts) &&
      expr.clauses.every(({ iter }) => again(iter))
    );
  if (expr.kind === "Unary") return again(expr.operand);
  // `[1.0] * n`: constant but for how many.
  if (expr.kind === "Binary")
    return again(expr.left) && (again(expr.right) || (expr.op === "*" && expr.left.kind === "List"));
  if (expr.kind === "IfExp") return again(expr.body) && again(expr.orelse);
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = cls ? (attributesOf(cls, facts.file).get(own)?.writes ?? []) : [];
    // `strides = (8, 16, 32)` of the class itself.
    if (writes.length === 0)
      return (
        cls?.body.some(
          (one) =>
            one.kind === "Assign" &&
            one.targets.some((target) => target.kind === "Name" && target.id === own) &&
            again(one.value),
        ) ?? false
      );
    return writes.every(
      ({ in: method, value }) =>
        method.name === "__init__" &&
        value !== null &&
        (again(value) || (depth > 0 && isHandedIn(value, facts))),
    );
  }
  if (expr.kind === "Name") {
    const found = facts.file.scopes.lookup(expr);
    const [one, ...more] = found?.definitions ?? [];
    if (more.length > 0 || !one) return false;
    // `from timm.data import IMAGENET_DEFAULT_MEAN`
    if (one.how === "import") return /^[A-Z][A-Z\d]*_[A-Z\d_]+$/.test(expr.id);
    // What is a number or a list of them unless a caller says otherwise.
    if (one.how === "param" && one.node.kind === "Param")
      return isNumbers(one.node, facts) || (isOfConstructor(one.node) && saysNumbers(one.node, facts));
    return one.how === "assign" && one.value !== null && again(one.value) && !grows(one, facts);
  }
  if (expr.kind !== "Call") return false;
  const name = facts.file.dotted(expr.func) ?? "";
  // `float("-inf")`, `list(WEIGHTS.values())`
  if (name === "builtins.range") return expr.args.every(({ value }) => again(value));
  if (name === "builtins.float") return expr.args[0]?.value.kind === "Str";
  if (/^builtins\.(?:list|tuple|sorted)$/.test(name))
    return expr.args[0] !== undefined && again(expr.args[0].value);
  if (expr.func.kind === "Attribute" && expr.func.attr === "values" && expr.func.value.kind === "Name") {
    const dict = literalDict(expr.func.value, facts.file);
    return dict?.kind === "Dict" && dict.values.every(again);
  }
  if (name.startsWith("math.") || /^numpy\.(?:log|sqrt|exp|sin|cos|log2|deg2rad)$/.test(name))
    return expr.args.every(({ value }) => again(value));
  if (
    /^numpy\.(?:array|asarray|linspace|logspace|geomspace|arange|zeros|ones|full|eye|cum(?:prod|sum)|concatenate|stack|append|outer|tri[lu]|flip|power|square|clip|diag|hanning|hamming)$/.test(
      name,
    )
  )
    return expr.args.every(({ value, name: key }) => key === "dtype" || isConstant(value, facts, depth + 1));
  return (
    expr.func.kind === "Attribute" &&
    /^(?:astype|reshape)$/.test(expr.func.attr) &&
    isConstant(expr.func.value, facts, depth + 1)
  );
}

/** `[next(examples) for _ in range(n)]` is another one every time. */
function isDrawn(expr: Expr, { file }: Facts): boolean {
  if (expr.kind !== "Call") return false;
  return (
    file.dotted(expr.func) === "builtins.next" ||
    (expr.func.kind === "Attribute" && /^(?:pop|popleft|get|sample|choice)$/.test(expr.func.attr))
  );
}

/** What the constructor is given stays what it is. */
function isHandedIn(expr: Expr, facts: Facts): boolean {
  const [one, ...more] = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return more.length === 0 && one?.how === "param";
}

/** `args.gamma`, `self.cfg.alpha`: one value for the whole run. */
function isSetting(expr: Expr): boolean {
  if (expr.kind !== "Attribute") return false;
  return OWNERS.test(lastWord(expr.value));
}

const OWNERS = /^(?:args|opt|opts|cfg|conf|config|hparams|flags|FLAGS|params|settings|hps?)$/;

/**
 * `hp.train.stft_lamb`, `cfg["loss"]["weight"]`, `self.cfg.get("weight", 1.0)`, also by a name that a group was given: settings in
 * groups. What a loop goes through may be another in each step, and so may what is called as a batch is.
 */
function isNested(expr: Expr, { file }: Facts): boolean {
  let asked = 0;
  for (let at: Expr | null = expr; at; asked++) {
    const word = lastWord(at);
    if (asked > (at === expr || expr.kind === "Call" ? 0 : 1) && GROUPS.test(word)) {
      if (at.kind !== "Name") return at.kind === "Attribute";
      const [one, ...more] = file.scopes.lookup(at)?.definitions ?? [];
      return one !== undefined && more.length === 0 && isOfRun(one);
    }
    if (at.kind === "Name") at = asked > 0 && asked < 8 ? file.scopes.onlyValue(at) : null;
    else {
      const step = partOf(at, file);
      if (!step || OF_BATCH.test(step.key)) return false;
      at = step.of;
    }
  }
  return false;
}

/** `x.key`, `x["key"]`, `x.get("key", 1.0)` and `getattr(x, "key", 1.0)`, with a number to fall back on. */
function partOf(expr: Expr, file: PythonFile): { readonly key: string; readonly of: Expr } | null {
  if (expr.kind === "Attribute") return { key: expr.attr, of: expr.value };
  if (expr.kind === "Subscript")
    return expr.index.kind === "Str" ? { key: expr.index.value ?? "", of: expr.value } : null;
  if (expr.kind !== "Call" || expr.args.some(({ name, star }) => name !== null || star !== 0)) return null;
  const given = expr.args.map(({ value }) => value);
  const isGet = expr.func.kind === "Attribute" && expr.func.attr === "get";
  if (!isGet && file.dotted(expr.func) !== "builtins.getattr") return null;
  const [of, key, other] = isGet ? [(expr.func as Attribute).value, ...given] : given;
  return of && key?.kind === "Str" && (!other || isLiteral(other)) ? { key: key.value ?? "", of } : null;
}

const GROUPS = /(?:^|_)(?:args|opts?|cfg|conf|config|hparams|flags|FLAGS|settings|hps?)$/;

const OF_BATCH = /^(?:batch|inputs?|targets?|labels?|images?|tokens?|obs|state|samples?|params)$/;

/** What a dictionary or an object of settings is called, whatever it is for: `data_cfg`, `model.default_cfg`. */
const SETTINGS = /(?:^|_)(?:args|opts|cfg|conf|config|hparams|settings)$/;

/**
 * `cfg["mean"]`, `model.default_cfg["mean"]`, `data_config.mean`, `processor.image_mean`: the same for the whole run, unless settings are drawn or
 * gone through in a loop.
 */
export function isEntry(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Attribute" && /^image_(?:mean|std)$/.test(expr.attr))
    return facts.value(expr).what === "unknown" && selfAttribute(expr) === null;
  if (isSpecialToken(expr)) return true;
  const isAsked = expr.kind === "Attribute" || (expr.kind === "Subscript" && expr.index.kind === "Str");
  if (!isAsked || !SETTINGS.test(lastWord(expr.value))) return false;
  if (expr.value.kind !== "Name") return expr.value.kind === "Attribute";
  const [one, ...more] = facts.file.scopes.lookup(expr.value)?.definitions ?? [];
  return one !== undefined && more.length === 0 && isOfRun(one);
}

/** Handed in, imported or made once, and in no turn of a loop. */
const isOfRun = ({ how, node }: Definition): boolean =>
  /^(?:assign|param|import)$/.test(how) && loopsAround(node).length === 0;

/** `tokenizer.pad_token_id`, `self.processor.tokenizer.all_special_ids`: numbers of a vocabulary, which a run does not change. */
function isSpecialToken(expr: Expr): boolean {
  return (
    expr.kind === "Attribute" &&
    selfAttribute(expr) === null &&
    /tokenizer$|^tok$/i.test(lastWord(expr.value)) &&
    /^(?:(?:pad|eos|bos|mask|sep|cls|unk)_token_id|all_special_ids)$/.test(expr.attr)
  );
}

/** `alpha=(0.25, 0.75)`, `alpha: float`, `weights: Sequence[float]` */
function isNumbers({ name, annotation, default: given }: Param, facts: Facts): boolean {
  if (given && given.kind !== "Const" && isLiteral(given)) return true;
  const type = annotation ? facts.file.textOf(annotation) : "";
  // A whole number may be a length, a list of numbers may have been drawn: another one for each batch.
  if (type === "int") return /^(?:pad|sos|eos|bos|blank|num_classes|\w+_(?:id|idx|index))$/.test(name);
  return type === "float";
}

export function isLiteral(expr: Expr): boolean {
  if (expr.kind === "Num" || expr.kind === "Const") return true;
  if (expr.kind === "Unary") return isLiteral(expr.operand);
  return (
    (expr.kind === "List" || expr.kind === "Tuple" || expr.kind === "Set") &&
    expr.items.length > 0 &&
    expr.items.every(isLiteral)
  );
}
