import { argument, importsFrom, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { entry } from "./arguments.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isOfTable } from "./data-frames.ts";
import { holdsOptions, said } from "./options.ts";
import {
  beforeChanges,
  isArray,
  isEvery,
  isHostArray,
  isNumber,
  isWhole,
  keptUnder,
  numpyCall,
} from "./numpy-arrays.ts";
import type { Known } from "./numpy-arrays.ts";
import { returnsByName } from "./returns.ts";
import { isScaledFrame } from "./scaled-frames.ts";
import { callTarget } from "./summary.ts";

/** NumPy functions whose results have fractions, whatever they are given. */
const FRACTIONS = /^numpy\.(?:sqrt|exp|log|log2|log10|log1p|sin|cos|tanh)$/;

/** NumPy functions whose result is float64 unless told otherwise. */
const FLOAT64 =
  /^numpy\.(?:zeros|ones|empty|asfarray|eye|identity|linspace|logspace|geomspace|interp|loadtxt|genfromtxt|tri|float64|double|hanning|hamming|blackman|bartlett|kaiser|random\.(?:rand|randn|random|random_sample|uniform|normal|standard_normal|beta|gamma|exponential|dirichlet|laplace|lognormal|multivariate_normal))$/;
/** The same of libraries that compute with NumPy: windows, densities, distances, and pictures in another size. */
const FLOAT64_OF_OTHERS =
  /^(?:scipy\.signal\.(?:windows\.)?(?:hann|hamming|blackman|gaussian|kaiser|tukey|get_window|firwin)|scipy\.signal\.(?:lfilter|filtfilt|savgol_filter)|scipy\.stats\.\w+\.(?:pdf|pmf|cdf|rvs)|scipy\.spatial\.(?:distance\.cdist|distance_matrix)|librosa\.filters\.get_window|cv2\.getGaussianKernel|skimage\.(?:util\.)?img_as_float(?:64)?|sklearn\.utils\.class_weight\.compute_(?:class|sample)_weight)$/;
/** NumPy functions whose result has the type of their first argument. */
const SAME =
  /^(?:numpy\.(?:cumprod|cumsum|sort|diff|sqrt|exp|log|log1p|sin|cos|tanh|abs|clip|flip|roll|pad|mean|std|median|average|zeros_like|ones_like|empty_like|full_like|append|concatenate|stack|vstack|hstack|tile|repeat|square|expand_dims|squeeze|reshape|transpose|ascontiguousarray|broadcast_to|meshgrid|linalg\.(?:inv|pinv|qr|svd|cholesky))|scipy\.ndimage\.\w+)$/;

/** Says another type, `np.zeros(n, np.int64)`, or one that nobody here knows: `np.zeros(n, self.dtype)`. */
const NARROWER = /dtype|float(?:16|32)|\b(?:u?int(?:p|c|\d+)?|bool_?|single|half|complex\d*)\b/;

/** `n / 2`, of two numbers. */
function isQuotient(expr: Expr, known: Known): boolean {
  return (
    expr.kind === "Binary" &&
    expr.op === "/" &&
    [expr.left, expr.right].every(
      (side) => isNumber(side) || (/^(?:Name|Attribute)$/.test(side.kind) && !known.isTensor(side)),
    )
  );
}

/** `rng.normal(…)` of a generator made here. */
function isGenerator(call: Call, known: Known): boolean {
  if (call.func.kind !== "Attribute" || !/^(?:normal|uniform|random|standard_normal)$/.test(call.func.attr))
    return false;
  const makes = (value: Expr | null): boolean =>
    value?.kind === "Call" &&
    /^numpy\.random\.(?:default_rng|RandomState|Generator)$/.test(known.file.dotted(value.func) ?? "");
  if (call.func.value.kind !== "Name") return makes(call.func.value);
  const definitions = known.file.scopes.reaching(call.func.value);
  return definitions.length > 0 && definitions.every(({ value }) => makes(value));
}

/** `StandardScaler()`, which leaves the type of what it scales as it is. */
function isScaler(expr: Expr, { file }: Known): boolean {
  const made = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
  return made?.kind === "Call" && /^sklearn\.preprocessing\.\w+Scaler$/.test(file.dotted(made.func) ?? "");
}

/** `np.array(x, dtype=np.float64)`, `np.asarray(x, float)`, `x.astype(np.float64)` */
function saysFloat64(call: Call, known: Known): boolean {
  const casts = call.func.kind === "Attribute" && call.func.attr === "astype";
  const name = known.file.dotted(call.func) ?? "";
  // The functions that take a type second.
  const second = /^numpy\.(?:array|asarray|asfarray|zeros|ones|empty)$/.test(name)
    ? positional(call, 1)
    : null;
  const type = keyword(call, "dtype")?.value ?? (casts ? positional(call, 0) : second);
  return (
    (casts || name.startsWith("numpy.")) &&
    type !== null &&
    (type.kind === "Str"
      ? /^(?:float(?:64)?|double|d|f8)$/.test(type.value ?? "")
      : /^(?:numpy\.(?:float64|double|float_?)|builtins\.float)$/.test(known.file.dotted(type) ?? ""))
  );
}

/** Numbers, in rows or not, and at least one of them with a point. */
function areFloats(items: readonly Expr[]): boolean {
  const flat = items.flatMap((item) => (item.kind === "List" || item.kind === "Tuple" ? item.items : [item]));
  const numbers = flat.map((item) => (item.kind === "Unary" ? item.operand : item));
  return (
    numbers.every((item) => item.kind === "Num") &&
    numbers.some((item) => item.kind === "Num" && /[.e]/.test(item.text))
  );
}

/** `MEAN` of `MEAN = (0.5, 0.5)`, and `mean` of `def normalized(x, mean=(0.5, 0.5))`: whoever gives another one gives numbers too. */
function writtenDown(expr: Expr, { scopes }: PythonFile): Expr | null {
  if (expr.kind !== "Name") return expr;
  const [one, ...more] = scopes.reaching(expr);
  if (more.length > 0 || !one) return null;
  if (one.node.kind === "Param") return one.node.default;
  return one.how === "assign" && !scopes.uses(one).some(fills) ? one.value : null;
}

/** `means.append(…)`, `means[0] = …` */
function fills({ parent }: Expr): boolean {
  if (parent?.kind === "Attribute") return true;
  return (
    parent?.kind === "Subscript" && parent.parent?.kind === "Assign" && parent.parent.targets.includes(parent)
  );
}

/** A number with a fraction, as it is written, by what it is computed from, or by what an option is unless somebody says otherwise. */
function isFraction(expr: Expr, known: Known, depth: number): boolean {
  if (depth > 4) return false;
  const again = (one: Expr): boolean => isFraction(one, known, depth + 1);
  if (expr.kind === "Num") return /[.e]/.test(expr.text);
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  const dotted = known.file.dotted(expr.kind === "Call" ? expr.func : expr) ?? "";
  if (expr.kind === "Call") return dotted === "builtins.float";
  if (/^(?:numpy|math)\.(?:nan|inf|pi|e)$/i.test(dotted)) return true;
  if (expr.kind === "Name") {
    const value = known.file.scopes.onlyValue(expr);
    return value !== null && again(value);
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, known.file).get(own!)?.writes ?? []) : [];
  if (writes.length > 0)
    return writes.every(({ how, value }) => how === "assign" && value !== null && again(value));
  const option = expr.kind === "Attribute" && holdsOptions(expr.value) ? known.option(expr.attr) : undefined;
  return typeof option === "number" && !Number.isInteger(option);
}

/** `np.where(mask > 0, 2.0, 1.0)`: of two numbers, or arrays of known types, one that has a fraction makes the other float64 too. */
function isChosen([, ...both]: Call["args"], known: Known, depth: number): boolean {
  if (both.length !== 2 || both.some(({ name }) => name !== null)) return false;
  const sides = both.map(({ value }) => ({
    wide: isFloat64(value, known, depth + 1),
    fraction: isFraction(value, known, 0),
    plain: isNumber(value) || isWhole(value, known),
  }));
  return (
    sides.every(({ wide, fraction, plain }) => wide || fraction || plain) &&
    sides.some(({ wide, fraction }) => wide || fraction)
  );
}

/** Rows that are such arrays: `[row(i) for i in range(n)]`, or a list that began empty and was filled with them. */
function isGathered(rows: Expr | null, known: Known, depth: number): boolean {
  if (rows?.kind === "Comp") {
    const { element, value } = rows;
    if (value !== null) return false;
    return element.kind === "Comp"
      ? isGathered(element, known, depth)
      : isFloat64(element, known, depth) || isFraction(element, known, depth) || isShare(element, known);
  }
  const { scopes } = known.file;
  const [list, ...more] = rows?.kind === "Name" ? scopes.reaching(rows) : [];
  if (more.length > 0 || list?.value?.kind !== "List" || list.value.items.length > 0) return false;
  const added = scopes.uses(list).flatMap(({ parent }) => {
    const call = parent?.kind === "Attribute" ? parent.parent : null;
    return parent?.kind === "Attribute" && call?.kind === "Call"
      ? [parent.attr === "append" ? positional(call, 0) : null]
      : [];
  });
  return added.length > 0 && added.every((row) => row !== null && isFloat64(row, known, depth));
}

/** `place / np.power(10000, …)` for each `place in range(n)`: a number with a fraction. */
function isShare(expr: Expr, known: Known): boolean {
  const [one, ...more] =
    expr.kind === "Binary" && expr.op === "/" && expr.left.kind === "Name"
      ? known.file.scopes.reaching(expr.left)
      : [];
  return (
    one?.how === "iterate" &&
    more.length === 0 &&
    one.value?.kind === "Call" &&
    known.file.dotted(one.value.func) === "builtins.range"
  );
}

/** A number, or what nobody knows to be more. */
function isPlain(side: Expr, known: Known): boolean {
  return (
    isNumber(side) ||
    side.kind === "Attribute" ||
    (side.kind === "Name" && !known.isTensor(side)) ||
    (side.kind === "Call" &&
      (/^builtins\.(?:len|float|int)$/.test(known.file.dotted(side.func) ?? "") ||
        // `counts.sum()`
        (side.func.kind === "Attribute" &&
          /^(?:sum|max|min)$/.test(side.func.attr) &&
          isWhole(side.func.value, known))))
  );
}

/**
 * `2 * self.sigma ** 2`, `-beta`, `np.sum(weights)`, `weights.max()`: computed of numbers or arrays, whose type is no wider. Beside
 * an array it changes nothing; beside a single number it may be what decides.
 */
function isComputed(side: Expr, known: Known, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => isPlain(inner, known) || isComputed(inner, known, depth + 1);
  if (side.kind === "Unary") return again(side.operand);
  if (side.kind === "Binary") return again(side.left) && again(side.right);
  if (side.kind !== "Call" || !/^(?:sum|max|min|mean|std|norm|sqrt)$/.test(lastWord(side.func))) return false;
  const name = known.file.dotted(side.func);
  if (name !== null) return /^(?:numpy|math)\./.test(name);
  return side.func.kind === "Attribute" && !known.isTensor(side.func.value) && again(side.func.value);
}

/** `np.sum(weights)` of `weights / np.sum(weights)` has the type of its other side. */
function isOfItself(side: Expr, other: Expr, { file }: Known): boolean {
  const given = side.kind === "Call" && /^numpy\.(?:sum|max|min)$/.test(file.dotted(side.func) ?? "");
  const of = given ? positional(side, 0) : null;
  return of !== null && file.textOf(of) === file.textOf(other);
}

export function isFloat64(expr: Expr, known: Known, depth = 0): boolean {
  if (depth > 14) return false;
  // A Python number leaves an array's type as it is.
  if (expr.kind === "Binary") {
    // What is read from text holds whole numbers or float64.
    if (expr.op === "/" && isOfTable(expr.left, known.file) && !known.isTensor(expr.right)) return true;
    // A true division of whole numbers is float64, and so is their product with a number that has a point.
    const [whole, other] = isWhole(expr.left, known) ? [expr.left, expr.right] : [expr.right, expr.left];
    if (isWhole(whole, known) && /^[-+*/]$/.test(expr.op))
      return (
        (expr.op === "/" && !known.isTensor(other)) ||
        (other.kind === "Num" && /[.e]/.test(other.text)) ||
        isQuotient(other, known)
      );
    const [left, right] = [isFloat64(expr.left, known, depth + 1), isFloat64(expr.right, known, depth + 1)];
    if (left && isOfItself(expr.right, expr.left, known)) return true;
    // `frames * np.random.rand()`: one number more leaves an array's type as it is.
    const leaves = (side: Expr, other: Expr): boolean =>
      isPlain(side, known)
        ? !(side.kind === "Name" && !isArray(other, known) && isHostArray(side, known))
        : isComputed(side, known) && isArray(other, known);
    if ((left && (right || leaves(expr.right, expr.left))) || (right && leaves(expr.left, expr.right)))
      return true;
    // `frame + np.random.normal(0, 0.1, size=frame.shape)`: of two arrays the wider type wins.
    return [expr.left, expr.right].some(
      (side, at) =>
        (at === 0 ? left : right) &&
        isArray(side, known) &&
        isHostArray(at === 0 ? expr.right : expr.left, known),
    );
  }
  const kept = keptUnder(expr, known);
  if (kept.length > 0) return kept.every((value) => isFloat64(value, known, depth + 1));
  // `batch["gains"]`, of what a buffer hands out
  if (expr.kind === "Subscript" && expr.index.kind === "Str" && expr.index.value !== null) {
    const handed = expr.value.kind === "Name" ? known.file.scopes.onlyValue(expr.value) : expr.value;
    if (handed?.kind === "Call" && isHandedAt(handed, expr.index.value, known, depth)) return true;
  }
  // A part of it, `returns[::-1]`, or its negative.
  if (expr.kind === "Subscript") return isFloat64(expr.value, known, depth + 1);
  if (expr.kind === "Unary") return isFloat64(expr.operand, known, depth + 1);
  // `torch.tensor([np.random.rand() for _ in range(n)])`, of NumPy's numbers.
  if (expr.kind === "Comp") return expr.value === null && isFloat64(expr.element, known, depth + 1);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) {
    const writes = attributesOf(cls, known.file).get(own!)?.writes ?? [];
    return (
      writes.length > 0 &&
      writes.every(
        ({ how, value }) => how === "assign" && value !== null && isFloat64(value, known, depth + 1),
      )
    );
  }
  if (expr.kind === "Call" && saysFloat64(expr, known)) return true;
  if (expr.kind === "Call" && isGenerator(expr, known)) return !keyword(expr, "dtype");
  // A volume as nibabel reads it.
  if (expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "get_fdata")
    return expr.args.length === 0;
  // What a function or method of this file returns, or one of another file.
  const target = expr.kind === "Call" ? callTarget(expr, known.file) : null;
  const returned =
    target === null
      ? undefined
      : (known.file.once(returnsByName).get(target) ?? overridden(target, known.file));
  if (returned && expr.kind === "Call") {
    const inside = withGiven(expr, returned, known);
    return returned.every((value) => isFloat64(value, inside, depth + 1));
  }
  if (
    expr.kind === "Call" &&
    target !== null &&
    !target.startsWith("numpy.") &&
    known.isMadeElsewhere(expr, null)
  )
    return true;
  if (expr.kind === "Call" && known.file.dotted(expr.func) === "numpy.full") {
    const fill = keyword(expr, "fill_value")?.value ?? positional(expr, 1);
    return fill !== null && !keyword(expr, "dtype") && !positional(expr, 2) && isFraction(fill, known, 0);
  }
  // `np.sqrt(np.arange(n))`: of whole numbers these make float64.
  if (expr.kind === "Call" && FRACTIONS.test(known.file.dotted(expr.func) ?? "")) {
    const of = positional(expr, 0);
    return of !== null && expr.args.length === 1 && (isWhole(of, known) || isFloat64(of, known, depth + 1));
  }
  if (expr.kind === "Call" && known.file.dotted(expr.func) === "numpy.where")
    return isChosen(expr.args, known, depth);
  // `np.power(0.99, np.arange(n))`
  if (expr.kind === "Call" && known.file.dotted(expr.func) === "numpy.power" && !keyword(expr, "dtype")) {
    const [base, power] = [positional(expr, 0), positional(expr, 1)];
    if (base && power && isFraction(base, known, 0) && isWhole(power, known)) return true;
  }
  // Of two factors one is enough, beside whole numbers.
  if (
    expr.kind === "Call" &&
    /^numpy\.(?:outer|dot|multiply|kron|power|add|subtract|divide|minimum|maximum)$/.test(
      known.file.dotted(expr.func) ?? "",
    )
  ) {
    const parts = expr.args.map(({ value }) => value);
    const wide = parts.filter((part) => isFloat64(part, known, depth + 1));
    const plain = (part: Expr): boolean => isNumber(part) || (part.kind === "Name" && !known.isTensor(part));
    return (
      wide.length > 0 &&
      parts.every((part) => wide.includes(part) || isWhole(part, known) || plain(part)) &&
      (parts.every((part) => wide.includes(part) || !plain(part)) ||
        wide.some((part) => isArray(part, known)))
    );
  }
  if (expr.kind === "Call" && SAME.test(known.file.dotted(expr.func) ?? "")) {
    const first = positional(expr, 0);
    const parts = first?.kind === "List" || first?.kind === "Tuple" ? first.items : first ? [first] : [];
    return (
      !keyword(expr, "dtype") &&
      ((parts.length > 0 && parts.every((part) => isFloat64(part, known, depth + 1))) ||
        isGathered(first, known, depth + 1))
    );
  }
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    known.file.dotted(expr.func) === null &&
    /^(?:copy|reshape|cumsum|cumprod|transpose|mean|std|var|sum|max|min|clip|flatten|ravel|squeeze)$/.test(
      expr.func.attr,
    )
  )
    return isFloat64(expr.func.value, known, depth + 1);
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    /^(?:fit_)?transform$/.test(expr.func.attr) &&
    isScaler(expr.func.value, known)
  ) {
    const rows = positional(expr, 0);
    return rows !== null && (isFloat64(rows, known, depth + 1) || isOfTable(rows, known.file));
  }
  if (expr.kind === "Call" && /^numpy\.(?:array|asarray)$/.test(known.file.dotted(expr.func) ?? "")) {
    const data = positional(expr, 0);
    if (keyword(expr, "dtype") || expr.args.length !== 1) return false;
    if (isGathered(data, known, depth + 1)) return true;
    const listed = data && writtenDown(data, known.file);
    return (
      (listed?.kind === "List" || listed?.kind === "Tuple") &&
      (areFloats(listed.items) ||
        // `np.array([np.random.uniform(-1, 1), np.random.uniform(-1, 1)])`
        (listed.items.length > 0 && listed.items.every((item) => FLOAT64.test(numpyCall(item, known)))))
    );
  }
  // `np.random.choice([0.5, 1.0], size=n)`
  if (expr.kind === "Call" && known.file.dotted(expr.func) === "numpy.random.choice") {
    const from = positional(expr, 0);
    return (from?.kind === "List" || from?.kind === "Tuple") && areFloats(from.items);
  }
  if (expr.kind === "Call" && FLOAT64_OF_OTHERS.test(known.file.dotted(expr.func) ?? "")) return true;
  if (expr.kind === "Call")
    return (
      FLOAT64.test(known.file.dotted(expr.func) ?? "") &&
      !keyword(expr, "dtype") &&
      !expr.args.some((arg) => arg.star === 2) &&
      !NARROWER.test(known.file.textOf(expr))
    );
  if (expr.kind !== "Name") return false;
  const reaching = known.file.scopes.reaching(expr);
  // `returns -= returns.mean()` leaves an array's type as it is.
  const isBegun = ({ how, node }: Definition): boolean => how !== "augment" && node.start < expr.start;
  const begun = reaching.some(({ how }) => how === "augment")
    ? known.file.scopes.lookup(expr)?.definitions.findLast(isBegun)
    : undefined;
  const definitions = begun ? [begun] : beforeChanges(reaching, known.file);
  const [one] = definitions;
  // `mask = np.zeros(n)`, `if full: mask = np.ones(n)`
  if (definitions.length > 1)
    return (
      definitions.every(({ how }) => how === "assign") &&
      isEvery(definitions, known, (value) => isFloat64(value, known, depth + 5))
    );
  // `for field in (self.states, self.rewards):`
  if (one?.how === "iterate" && one.value) {
    const over = one.value.kind === "Name" ? known.file.scopes.onlyValue(one.value) : one.value;
    const items = over?.kind === "Tuple" || over?.kind === "List" ? over.items : [];
    return items.length > 0 && items.every((item) => isFloat64(item, known, depth + 5));
  }
  if (one?.how === "param" && definitions.length === 1) {
    const handed = known.given?.(one) ?? null;
    return handed !== null && isFloat64(handed.value, handed.around, depth + 3);
  }
  // `ys, xs = np.meshgrid(…)`, `ys, xs = np.mgrid[0:h, 0:w] / n`, `wave, rate = soundfile.read(path)`
  const grid =
    one?.how === "unpack" &&
    (one.value?.kind === "Binary" ||
      (one.value?.kind === "Call" && known.file.dotted(one.value.func) === "numpy.meshgrid"));
  if (one?.how === "unpack" && one.index === 0 && one.value?.kind === "Call" && definitions.length === 1)
    if (known.file.dotted(one.value.func) === "soundfile.read" && !keyword(one.value, "dtype")) return true;
  if (one?.how === "unpack" && definitions.length === 1 && one.value?.kind === "Call" && one.index !== null)
    if (isHandedAt(one.value, one.index, known, depth)) return true;
  return (
    definitions.length === 1 &&
    (definitions[0]!.how === "assign" || grid) &&
    definitions[0]!.value !== null &&
    isFloat64(definitions[0]!.value, known, depth + 1)
  );
}

/** Of `self.weights()`, which its own class leaves to others: what all the classes of this file that are made of it return there. */
function overridden(target: string, file: PythonFile): readonly Expr[] | undefined {
  const open = file.once(leftOpen);
  if (!open.has(target)) return undefined;
  const dot = target.lastIndexOf(".");
  const [base, method] = [target.slice(0, dot), target.slice(dot)];
  const heirs = new Set([base]);
  // A class stands below those that it is made of.
  for (const cls of file.all("ClassDef"))
    if (cls.args.some(({ value }) => heirs.has(file.dotted(value) ?? ""))) heirs.add(file.qualified(cls));
  heirs.delete(base);
  const found = [...heirs].flatMap((heir) => file.once(returnsByName).get(heir + method) ?? []);
  return found.length > 0 ? found : undefined;
}

/** Methods that are abstract, and return nothing. */
function leftOpen(file: PythonFile): ReadonlySet<string> {
  return new Set(
    file
      .all("FunctionDef")
      .filter(({ decorators }) => decorators.some((one) => lastWord(one) === "abstractmethod"))
      .map((fn) => file.qualified(fn)),
  );
}

/** What is known inside a function of this file that one call goes to: also which of its parameters are given such arrays there. */
function withGiven(call: Call, returned: readonly Expr[], known: Known): Known {
  const fn = returned[0] ? functionOf(returned[0]) : null;
  if (fn?.kind !== "FunctionDef" || call.args.every(({ value }) => isNumber(value))) return known;
  const shift = fn.params[0]?.name === "self" && call.func.kind === "Attribute" ? 1 : 0;
  return {
    ...known,
    given: ({ node, name }) => {
      const at = fn.params.findIndex((param) => param === node);
      const value = at < 0 ? null : argument(call, name, at - shift);
      return value && { value, around: known };
    },
  };
}

/** `states, rewards = buffer.sample(n)`: one of several that a function of this file returns, or of another one; by its key where they have names. */
function isHandedAt(call: Call, at: number | string, known: Known, depth: number): boolean {
  const target = callTarget(call, known.file);
  if (target === null || target.startsWith("numpy.")) return false;
  const returned = known.file.once(returnsByName).get(target);
  const inside = returned ? withGiven(call, returned, known) : known;
  return returned
    ? returned.every((value) => {
        const item =
          typeof at === "number" ? (value.kind === "Tuple" ? value.items[at] : null) : named(value, at);
        return !!item && isFloat64(item, inside, depth + 1);
      })
    : known.isMadeElsewhere(call, at);
}

/** `{"gains": gains}`, `dict(gains=gains)` */
function named(value: Expr, key: string): Expr | null {
  if (value.kind === "Dict") return entry(value, key);
  return value.kind === "Call" ? (keyword(value, key)?.value ?? null) : null;
}

/** The names of what a function hands out in a dict. */
function keysOf(value: Expr, file: PythonFile): readonly string[] {
  const keys =
    value.kind === "Dict"
      ? value.keys.map((key) => (key?.kind === "Str" ? key.value : null))
      : value.kind === "Call" && file.dotted(value.func) === "builtins.dict"
        ? value.args.map(({ name }) => name)
        : [];
  return keys.filter((key) => key !== null && /^\w*[a-z]\w*$/i.test(key)) as string[];
}

/** The array that a tensor is made of, as it is: `torch.from_numpy(keep)[None]`, also by a name. */
function tensorOf(expr: Expr, file: PythonFile, depth = 0): Expr | null {
  if (depth > 4) return null;
  const again = (inner: Expr | null): Expr | null => inner && tensorOf(inner, file, depth + 1);
  if (expr.kind === "Name") return again(file.scopes.onlyValue(expr) ?? beforeTransform(expr, file));
  if (expr.kind === "Subscript") return again(expr.value);
  if (expr.kind !== "Call" || keyword(expr, "dtype")) return null;
  const name = file.dotted(expr.func);
  if (name !== null)
    return /^torch\.(?:from_numpy|tensor|as_tensor)$/.test(name) ? positional(expr, 0) : null;
  return expr.func.kind === "Attribute" &&
    /^(?:unsqueeze|view|reshape|permute|contiguous)$/.test(expr.func.attr)
    ? again(expr.func.value)
    : null;
}

/** The tensor that `if self.transform: image = self.transform(image)` is given: turned and cut, it keeps its type. */
function beforeTransform(name: Name, { scopes }: PythonFile): Expr | null {
  const isTransformed = ({ value }: Definition): boolean => {
    const own = value?.kind === "Call" ? selfAttribute(value.func) : null;
    const given = value?.kind === "Call" ? positional(value, 0) : null;
    return own !== null && /transform|augment/.test(own) && given?.kind === "Name" && given.id === name.id;
  };
  const [one, ...more] = scopes.reaching(name).filter((definition) => !isTransformed(definition));
  return one?.how === "assign" && more.length === 0 ? one.value : null;
}

/** What such arrays are made with, or put together. */
const MAKERS =
  "zeros ones empty full eye linspace logspace array stack concatenate randn rand normal uniform get_fdata loadtxt genfromtxt".split(
    " ",
  );

/** Methods of a buffer that hand out what was put there. */
const DRAWS = /sample|batch|draw|get/i;

const NUMPY = /^numpy\b/;

/** Functions and methods of a file that hand out an array of float64, with "" for the whole or the places of several, "0,2", or their keys. */
export function float64Makers(file: PythonFile): ReadonlyMap<FunctionDef, string> {
  const found = new Map<FunctionDef, string>();
  const asked = new Set<FunctionDef>();
  if (!importsFrom(file, NUMPY)) return found;
  const known: Known = {
    file,
    // Who makes a tensor of what it is given has none yet.
    isTensor: () => false,
    isMadeElsewhere: () => false,
    option: (name) => file.once(said).get(name),
  };
  const handsOutAt = (fn: FunctionDef, values: readonly Expr[]): void => {
    const isWide = (item: Expr): boolean =>
      isFloat64(tensorOf(item, file) ?? item, known) ||
      (fn.name === "__getitem__" && isScaledFrame(item, known));
    const placesOf = (value: Expr): readonly string[] => [
      ...(value.kind === "Tuple" ? value.items : []).flatMap((item, at) => (isWide(item) ? [`${at}`] : [])),
      ...keysOf(value, file).filter((key) => isWide(named(value, key)!)),
    ];
    // Where it hands out one or the other, those that both have.
    const [first = [], ...others] = values.map(placesOf);
    const places = first.filter((place) => others.every((other) => other.includes(place)));
    if (places.length > 0) found.set(fn, places.join());
  };
  // One by one, as of tables.
  for (const maker of MAKERS)
    for (const call of file.callsNamed(maker)) {
      const fn = functionOf(call);
      if (fn?.kind !== "FunctionDef" || asked.has(fn)) continue;
      asked.add(fn);
      const returned =
        fn.decorators.length === 0 && fn.name !== "__getitem__" && fn.parent?.kind !== "FunctionDef"
          ? file.once(returnsByName).get(file.qualified(fn))
          : undefined;
      if (returned?.every((value) => isFloat64(tensorOf(value, file) ?? value, known))) found.set(fn, "");
      else if (returned) handsOutAt(fn, returned);
    }
  // `return self.states[chosen], self.rewards[chosen]`
  for (const fn of file.all("FunctionDef")) {
    if (!DRAWS.test(fn.name) || fn.parent?.kind !== "ClassDef") continue;
    const returned = file.once(returnsByName).get(file.qualified(fn)) ?? [];
    // `return self.select(chosen)`
    const [first] = returned;
    const other = first?.kind === "Call" ? callTarget(first, file) : null;
    handsOutAt(fn, (other !== null && file.once(returnsByName).get(other)) || returned);
  }
  return found;
}
