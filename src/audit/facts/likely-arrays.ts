import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isSlice } from "./host-indices.ts";

/** What is likely of arrays and lists on the host, by what made them and what they are called. */

/** What NumPy makes in float64, unless told otherwise. */
const WIDE =
  /^numpy\.(?:zeros|ones|empty|full|eye|identity|linspace|logspace|geomspace|hanning|hamming|blackman|kaiser|mean|std|var|average|median|percentile|quantile|sqrt|exp|log|log2|log10|log1p|sin|cos|tan|tanh|arctan2?|divide|true_divide|interp|cov|corrcoef|loadtxt|genfromtxt|deg2rad|linalg\.\w+|fft\.\w+|random\.(?:rand|randn|random|random_sample|normal|uniform|beta|gamma|dirichlet|exponential|standard_normal|laplace|lognormal|multivariate_normal|poisson_?|chisquare|power))$/;

/** What NumPy has collected, on the host, by its name. */
export const COLLECTED = /(?:^|_)(?:rewards?|returns?|advantages?|advs?)(?:_\w+)?$/i;

const GATHERS =
  /^numpy\.(?:array|asarray|stack|[hvd]?stack|concatenate|tile|repeat|clip|pad|abs|maximum|minimum|where|outer|meshgrid|transpose|expand_dims|copy|ascontiguousarray|reshape|cumsum|cumprod|sum|diff|power|square|multiply|add|subtract|dot|matmul|flip|roll|squeeze|broadcast_to)$/;

/** Numbers with fractions, as they are called where nobody sees what made them. */
const FRACTIONS =
  /(?:^|_)(?:rewards?|returns?|advantages?|advs?|weights?|(?:sqrt_(?:one_minus_|recip_)?)?alphas?(?:_(?:cum)?prod(?:_prev)?|_bars?)?|betas?|gammas?|means?|stds?|var|priors?|probs?|noise|lam(?:bda)?|scales?|coefs?|coefficients?|sigmas?|margins?|freqs?|costs?|anchors?|angles?|poses?|extrinsics?|intrinsics?|affine|residuals?|factors?|cov(?:ariance)?|size_arr|schedule|distances?|dists?)(?:_(?:arr|array|np|numpy|vec|batch|matrix|list|b|t))?$/i;

/** Something in it makes it narrow. */
const NARROWS =
  /float32|float16|single\b|half\b|(?:np\.|numpy\.|torch\.|["']|astype\(|dtype ?= ?)int|, ?int\b(?!\()|uint8|astype\((?!(?:np\.|numpy\.)?(?:float64|double|float)\b)|bool|argm|argsort/i;

/** An array of float64, as far as anybody can tell: made by NumPy, divided, or named for numbers with fractions. */
export function likelyWide(expr: Expr, facts: Facts, named = true, depth = 0): boolean {
  const { file } = facts;
  if (depth > 6 || NARROWS.test(file.textOf(expr))) return false;
  const again = (inner: Expr): boolean => likelyWide(inner, facts, named, depth + 1);
  const { what } = facts.value(expr);
  if (what === "tensor" || what === "number" || what === "string" || what === "output") return false;
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  if (expr.kind === "Unary") return again(expr.operand);
  if (expr.kind === "IfExp") return again(expr.body) || again(expr.orelse);
  if (expr.kind === "Subscript" && expr.index.kind !== "Str") return again(expr.value);
  if (expr.kind === "Comp") return expr.value === null && again(expr.element);
  if (expr.kind === "List" || expr.kind === "Tuple")
    return (
      expr.items.length > 0 &&
      expr.items.every((item) => item.kind === "Num" || again(item)) &&
      expr.items.some(again)
    );
  if (expr.kind === "Call") {
    const name = file.dotted(expr.func) ?? "";
    if (/^(?:torch|builtins)\./.test(name)) return false;
    if (keyword(expr, "dtype"))
      return /float64|double|float\b/.test(file.textOf(keyword(expr, "dtype")!.value));
    if (OF_ONE.test(name) && !named) return expr.args[0] !== undefined && again(expr.args[0].value);
    // One number leaves the type of an array as it is.
    if (name.startsWith("numpy.random.") && expr.args.length === 0) return false;
    if (WIDE.test(name)) return name !== "numpy.full" || hasPoint(positional(expr, 1) ?? expr);
    if (GATHERS.test(name))
      return expr.args
        .slice(0, 2)
        .some(({ value }) => again(value) || (name.endsWith("array") && hasPoint(value)));
    if (expr.func.kind === "Attribute" && METHODS.test(expr.func.attr)) return again(expr.func.value);
    return false;
  }
  const writes = given(expr, facts);
  if (writes.length > 0) {
    // What came last is not known: one that is narrow on the way is enough to be silent.
    if (writes.some((value) => NARROWS.test(file.textOf(value)))) return false;
    if (writes.some((value) => value !== expr && again(value))) return true;
  }
  return named && FRACTIONS.test(lastWord(expr)) && writes.every((value) => isUnseen(value, facts));
}

const METHODS =
  /^(?:copy|reshape|transpose|flatten|ravel|squeeze|mean|std|sum|clip|dot|repeat|swapaxes|T|astype|cumsum|var|random|rand|normal|uniform|standard_normal|get_fdata|to_numpy)$/;

/** Of a number they give a number. */
const OF_ONE =
  /^numpy\.(?:mean|std|var|average|median|sqrt|exp|log|log2|log10|log1p|sin|cos|tan|tanh|divide|true_divide|deg2rad)$/;

/** `[0.1, 0.2]`, of which NumPy makes float64. */
function hasPoint(expr: Expr): boolean {
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.some(hasPoint);
  if (expr.kind === "Unary") return hasPoint(expr.operand);
  return expr.kind === "Num" && /[.e]/.test(expr.text);
}

/** Handed in, or made by who knows what: anything but what is known to be something else. */
function isUnseen(value: Expr, { file }: Facts): boolean {
  return !(value.kind === "Call" && /^(?:torch|builtins)\./.test(file.dotted(value.func) ?? ""));
}

/** What a name or an attribute of self is given, or filled with. */
function given(expr: Expr, { file }: Facts): readonly Expr[] {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) {
    const put = file
      .callsNamed("append")
      .flatMap(({ func, args }) =>
        func.kind === "Attribute" && selfAttribute(func.value) === own && classOf(func) === cls && args[0]
          ? [args[0].value]
          : [],
      );
    return [...(attributesOf(cls, file).get(own!)?.writes ?? []).flatMap(({ value }) => value ?? []), ...put];
  }
  if (expr.kind !== "Name") return [];
  const made = file.scopes
    .reaching(expr)
    .flatMap(({ how, value }) => (how === "assign" && value ? [value] : []));
  const listed = made.some((value) => value.kind === "List" && value.items.length === 0);
  if (!listed) return made.filter((value) => !(value.start <= expr.start && expr.end <= value.end));
  const put = file.callsNamed("append").flatMap(({ func, args }) => {
    const isIt = func.kind === "Attribute" && func.value.kind === "Name" && func.value.id === expr.id;
    return isIt && functionOf(func) === functionOf(expr) && args[0] ? sameName(args[0].value, file) : [];
  });
  // What is listed by that name may be made by it in another function.
  return [
    ...put,
    ...sameName(expr, file)
      .slice(1)
      .filter((value) => functionOf(value) !== functionOf(expr)),
  ];
}

/** Itself, and what the same name is given elsewhere in the file: a dataset makes what its collate function lists. */
function sameName(expr: Expr, file: Facts["file"]): readonly Expr[] {
  if (expr.kind !== "Name") return [expr];
  return [
    expr,
    ...file
      .all("Assign")
      .flatMap(({ targets: [target], value }) =>
        target?.kind === "Name" && target.id === expr.id ? [value] : [],
      ),
  ];
}

/** What places are called. */
const PLACES =
  /(?:^|_)(?:idxs?|indices|index(?:es)?|inds?|perm(?:utation)?|order|rows|cols|keep|kept|choices?|selected|sel|picks?|subset|positions|channels|ids)(?:_\w{1,6})?$/i;

/** A list or an array of places on the host: made by NumPy, listed, drawn by `random`. */
export function likelyPlaces(expr: Expr, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => likelyPlaces(inner, facts, depth + 1);
  if (expr.kind === "List") return expr.items.length > 0 && expr.items.every(isPlace);
  if (expr.kind === "Comp")
    return (
      expr.value === null &&
      !isSlice(expr.element, facts) &&
      !/tensor|output/.test(facts.value(expr.element).what) &&
      !/torch\./.test(file.textOf(expr))
    );
  if (expr.kind === "Subscript") return expr.index.kind === "Slice" && again(expr.value);
  if (expr.kind === "Binary") return /^[-+]$/.test(expr.op) && (again(expr.left) || again(expr.right));
  if (expr.kind === "Call") {
    const name = file.dotted(expr.func) ?? "";
    if (
      /^numpy\.(?:random\.(?:permutation)|arange|where|nonzero|flatnonzero|argsort|argwhere|array|asarray|setdiff1d|intersect1d|unique|concatenate)$/.test(
        name,
      )
    )
      return true;
    if (name === "numpy.random.randint" || name === "numpy.random.choice")
      return keyword(expr, "size") !== null || positional(expr, name.endsWith("choice") ? 1 : 2) !== null;
    if (/^random\.(?:sample|choices)$/.test(name)) return true;
    if (/^builtins\.(?:list|sorted)$/.test(name)) return !isOfTensor(expr, facts);
    return (
      expr.func.kind === "Attribute" && /^(?:tolist|numpy|permutation|copy|astype)$/.test(expr.func.attr)
    );
  }
  if (expr.kind === "Name" && isAnnotatedArray(expr, file)) return true;
  const writes = given(expr, facts);
  return (
    writes.length > 0 &&
    (depth > 0 || expr.kind === "Name" || PLACES.test(lastWord(expr))) &&
    writes.some((value) => value !== expr && again(value))
  );
}

/** `rows: np.ndarray` */
function isAnnotatedArray(name: Name, file: PythonFile): boolean {
  const [one, ...more] = file.scopes.reaching(name);
  const said = one?.node.kind === "Param" && more.length === 0 ? one.node.annotation : null;
  return said !== null && file.dotted(said) === "numpy.ndarray";
}

const isPlace = (item: Expr): boolean =>
  item.kind === "Num" || (item.kind === "Unary" && item.operand.kind === "Num");

function isOfTensor({ args }: Call, facts: Facts): boolean {
  return args.some(({ value }) => /tensor|output/.test(facts.value(value).what));
}
