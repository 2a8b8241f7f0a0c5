import { argument, positional } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, Node } from "../../python/tree.ts";
import { isModuleRole, selfAttribute } from "../facts/classes.ts";
import { validationStep } from "../facts/facts.ts";
import { everyTurn } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { isGivenToNetwork } from "../facts/given-entries.ts";
import { isNetwork } from "../facts/networks.ts";
import { callsOf } from "../facts/returns.ts";
import { everyRoundOf } from "../facts/rounds.ts";
import { isBesideDevice, isUsedAsTensor, mayBeNumber } from "../facts/tensor-use.ts";
import { METHODS, last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import { computedPicks } from "../facts/indices.ts";
import type { Edit, Finding, Rule } from "../rule.ts";

const READS =
  /^(?:math\.\w+|builtins\.(?:any|all|sum|max|min|range|round|sorted|divmod)|statistics\.\w+|collections\.Counter|numpy\.(?:isnan|isfinite|isinf|mean|array|asarray|sum|exp|log|sqrt))$/;

/** Words of what is called there: the functions of Python's `math`, then those of NumPy and the builtins. */
const READERS =
  `acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot
  isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp
  any all sum max min range round sorted divmod mean fmean median stdev Counter array asarray`.split(/\s+/);

export const rule: Rule = {
  meta: {
    code: "PLM068",
    name: "hidden-host-read",
    summary: "A device tensor is handed to Python's or NumPy's own functions, which read it on the host",
    severity: "warning",
    fix: "unsafe",
    patterns: [68],
    onDevice: "file",
    hotOnly: true,
  },
  *check(facts) {
    yield* sizes(facts);
    yield* scalars(facts);
    yield* members(facts);
    yield* oneByOne(facts);
    for (const call of facts.file.callsNamed(...READERS)) {
      const name = facts.file.dotted(call.func) ?? "";
      if (!READS.test(name)) continue;
      const handed = /^builtins\.(?:any|all|sum|max|min|sorted)$/.test(name) ? positional(call, 0) : null;
      const isMask =
        handed !== null &&
        call.args.length === 1 &&
        (isHandedMask(handed, facts) || isBroughtTensor(handed, facts));
      if (
        !read(call, name).some(
          (arg) =>
            arg.star === 0 &&
            (isMask ||
              ((isTensor(arg.value, facts) || isLikelyOne(arg.value, name, facts)) &&
                !(name.endsWith("array") && mayBeNumber(arg.value, facts)) &&
                (!areLosses(arg.value, facts) || (facts.guesses && TAKES_ONE.test(name)))) ||
              (name === "builtins.range" && isSingle(arg.value, facts, 0) && isMasked(arg.value, facts))),
        )
      )
        continue;
      const own = /^builtins\.(any|all|sum)$/.exec(name)?.[1];
      // So many kernels or waits tell in an evaluation too.
      const judges = !everyTurn(call, facts);
      if (judges && name === "builtins.range" && isComparedInTurns(call, facts) && everyRoundOf(call, facts))
        yield {
          at: call,
          severity: "note",
          message:
            "`range` reads the device tensor on the host, and each turn of its loop reads it again where it is compared, with a wait for each; take it to the host once",
        };
      if (judges && !(own && inEvaluation(call, facts))) continue;
      const [only] = call.args;
      const each = /^builtins\.(?:any|all|sum|max|min|sorted)$|^statistics\.|Counter$/.test(name);
      const short = name.replace("builtins.", "");
      yield {
        at: call,
        ...(judges || isMask ? { severity: "note" as const } : {}),
        message: each
          ? `\`${short}\` goes through the device tensor element by element: a ${own === "sum" ? "kernel" : "wait"} for each, ${judges ? "with every batch" : "on every step"}; torch has its own`
          : `\`${short}\` reads the device tensor on the host, with a wait, on every step; torch has its own`,
        ...(own && only && call.args.length === 1
          ? {
              fix: {
                grade: "unsafe" as const,
                title: "Let the device do it",
                edits: [{ start: call.start, end: only.start, text: "" }, ...closing(only.value, call, own)],
              },
            }
          : {}),
      };
    }
  },
};

/** `for t in range(n): last = t == n - 1`: the answer is asked for in every turn, on the device. */
function isComparedInTurns(range: Call, { file }: Facts): boolean {
  const loop = ancestors(range).find((at) => at.kind === "For");
  const counts = new Set(
    range.args.flatMap(({ value }) => (value.kind === "Name" ? file.scopes.reaching(value) : [])),
  );
  return (
    loop?.kind === "For" &&
    contains(loop.iter, range) &&
    [...counts].some((one) =>
      file.scopes.uses(one).some((use) => {
        const compared = contains(loop, use) ? ancestors(use).find(({ kind }) => kind !== "Binary") : null;
        const asks = compared?.kind === "Compare" ? compared.parent : null;
        return (
          (asks?.kind === "If" || asks?.kind === "IfExp" || asks?.kind === "While") && asks.test === compared
        );
      }),
    )
  );
}

/** In a loop that runs a network, or in what Lightning calls with every batch it judges by. */
function inEvaluation(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  if (loop)
    return (
      loop.kind === "For" &&
      facts.frequency(call, loop) === "every" &&
      facts.file.all("Call").some((one) => contains(loop, one) && isNetwork(one.func, facts))
    );
  const step = validationStep(call, facts);
  return step !== null && facts.frequency(call, step) === "every";
}

/** `any(torch.isnan(p.grad).any() for p in model.parameters())`: the truth of each is asked on the host, and the largest of several by as many comparisons. */
function* oneByOne(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("any", "all", "max", "min", "sorted")) {
    const [only, ...more] = call.args;
    const name = facts.file.dotted(call.func) ?? "";
    if (!only || more.length > 0 || only.value.kind !== "Comp" || !name.startsWith("builtins.")) continue;
    if (!isTensor(askedOf(only.value.element), facts)) continue;
    if (!everyTurn(call, facts)) continue;
    yield {
      at: call,
      message: `\`${last(name)}\` asks one device tensor after the other on the host: a wait for each, on every step; stack them and ask once`,
    };
  }
}

/** What a test of one among many asks at last: `p.grad is not None and p.grad.isnan().any()`, `not torch.isfinite(x).all()`. */
function askedOf(element: Expr): Expr {
  if (element.kind === "Bool") return askedOf(element.values.at(-1)!);
  return element.kind === "Unary" && element.op === "not" ? askedOf(element.operand) : element;
}

/** `any(padding_mask)` in a forward, of what it is given under that name, or asks as only a tensor can be: `padding_mask.all()`. */
function isHandedMask(expr: Expr, facts: Facts): boolean {
  const { what, device } = facts.value(expr);
  const cls = facts.accelerator && what === "unknown" && device === "unknown" ? classOf(expr) : null;
  if (!cls || !isModuleRole(facts.role(cls)) || expr.kind !== "Name") return false;
  const [one, ...more] = facts.file.scopes.reaching(expr);
  return (
    one?.how === "param" &&
    more.length === 0 &&
    (/(?:^|_)mask$/.test(expr.id) || isUsedAsTensor(one, facts.file))
  );
}

/**
 * `max(lengths)` of `lengths = batch["lengths"].to(device)`; `any(done)` of `state, done = memory.sample(n)`, which brings what the
 * network is given, where `done.float()` is asked for: who goes through it has no dict there.
 */
function isBroughtTensor(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? facts.file.scopes.reaching(expr) : [];
  return (
    made.length > 0 &&
    facts.onAccelerator(expr) &&
    facts.value(expr).what === "output" &&
    made.every((one) => isSent(one) || (one.how === "unpack" && isUsedAsTensor(one, facts.file)))
  );
}

/** `x = batch["x"].to(device)`, also as one of several: `x, y = batch["x"].cuda(), batch["y"].cuda()`. */
function isSent({ how, value, index }: Definition): boolean {
  const made =
    how === "unpack" && value?.kind === "Tuple" && typeof index === "number" ? value.items[index] : value;
  return (
    (how === "assign" || how === "unpack") &&
    made?.kind === "Call" &&
    made.func.kind === "Attribute" &&
    /^(?:to|cuda)$/.test(made.func.attr)
  );
}

/** What `sum` starts from is added to, not gone through; `max` of several compares them, which is told elsewhere. */
function read(call: Call, name: string): Call["args"] {
  if (/^builtins\.(?:max|min)$/.test(name)) return call.args.length === 1 ? call.args : [];
  return name === "builtins.sum" ? call.args.slice(0, 1) : call.args;
}

/** `sum(losses)` of what a loss of the program's own gives, which nobody sees: as many as the network has outputs. */
function areLosses(expr: Expr, { file, guesses }: Facts): boolean {
  // `sum(outs["loss"]) / len(crops)`: what is kept under such a key is likely a list of them.
  if (guesses && expr.kind === "Subscript" && expr.index.kind === "Str") return true;
  if (expr.kind !== "Name" || !/losses$/i.test(expr.id)) return false;
  const made = file.scopes.onlyValue(expr);
  return made?.kind === "Call" && file.dotted(made.func)?.startsWith("torch.") !== true;
}

/** `math.isnan(losses)` takes one number, so that what a network gave is one tensor there; `max(lengths)` goes through one by its name. */
function isLikelyOne(expr: Expr, name: string, facts: Facts): boolean {
  return (
    facts.guesses &&
    facts.onAccelerator(expr) &&
    (TAKES_ONE.test(name) ||
      ONE_TENSOR.test(lastWord(expr)) ||
      // `sum(mask.sum(1))`
      (expr.kind === "Call" && expr.func.kind === "Attribute" && METHODS.has(expr.func.attr)))
  );
}

/** What goes through nothing. */
const TAKES_ONE = /^math\.(?!prod|fsum|dist|sumprod)|^builtins\.round$/;
const ONE_TENSOR =
  /(?:^|_)(?:labels?|target|masks?|lengths?|lens|scores|ids|tokens|valid|dones?|rewards?|counts?)$/;

/** `list(x.chunk(4))` goes through a tuple of tensors, not through a tensor. */
function isTensor(expr: Expr, facts: Facts): boolean {
  return (facts.value(expr).what === "tensor" && facts.onAccelerator(expr)) || isRows(expr, facts);
}

/** `mask.sum(-1) == 0`, of what came along with a batch: no list is summed like that, and arrays have no negative habit of it in a step. */
function isRows(expr: Expr, facts: Facts): boolean {
  const { left } = expr.kind === "Compare" ? expr : { left: null };
  if (!facts.accelerator || left?.kind !== "Call" || left.func.kind !== "Attribute") return false;
  const [dim] = left.args;
  return (
    /^(?:sum|mean|amax|amin|argmax|norm)$/.test(left.func.attr) &&
    facts.file.dotted(left.func) === null &&
    dim !== undefined &&
    (dim.name === "dim" || (dim.value.kind === "Unary" && dim.name === null)) &&
    facts.value(left.func.value).device !== "cpu"
  );
}

/** `any(x)` → `x.any()`, with brackets where binding asks for them. */
function closing(value: Expr, call: Call, method: string): Edit[] {
  const tight = ["Name", "Attribute", "Call", "Subscript"].includes(value.kind);
  return tight
    ? [{ start: value.end, end: call.end, text: `.${method}()` }]
    : [
        { start: value.start, end: value.start, text: "(" },
        { start: value.end, end: call.end, text: `).${method}()` },
      ];
}

const FOR_EACH_BATCH =
  "Python wants a number here and reads the device tensor for it, with a wait, for every batch of an epoch";

/** A 0-dim device tensor where Python wants a number: a size, a bound of a slice, a count of repeats. */
function* sizes(facts: Facts): Generator<Finding> {
  const report = (at: Expr): Finding => ({
    at,
    ...(isKnown(at) ? {} : { severity: "note" as const }),
    message: "Python wants a number here and reads the device tensor for it, with a wait, on every step",
  });
  const { file } = facts;
  const isKnown = (expr: Expr): boolean =>
    (facts.onAccelerator(expr) && facts.value(expr).what === "tensor") || isMasked(expr, facts);
  const isCount = (expr: Expr): boolean =>
    isSingle(expr, facts, 0) && (isKnown(expr) || isReducedTwice(expr, facts) || isOfBatch(expr, facts));
  for (const call of file.callsNamed(
    "zeros",
    "ones",
    "empty",
    "full",
    "arange",
    "rand",
    "randn",
    "eye",
    "linspace",
    "logspace",
    "multinomial",
    "kthvalue",
    "repeat",
    "expand",
    "view",
    "reshape",
    "new_zeros",
    "new_ones",
    "randint",
    "randperm",
    "topk",
    "narrow",
    "split",
    "chunk",
    "roll",
    "tile",
    "one_hot",
    "pad",
  )) {
    const name = file.dotted(call.func) ?? "";
    const made =
      name === `torch.${last(name)}` &&
      /^(?:zeros|ones|empty|full|arange|rand|randn|eye|linspace|logspace|multinomial|kthvalue|randint|randperm|topk|narrow|split|chunk|roll|tile)$/.test(
        last(name),
      );
    const method =
      name === "" &&
      call.func.kind === "Attribute" &&
      /^(?:repeat|expand|view|reshape|new_zeros|new_ones|multinomial|kthvalue|topk|narrow|split|chunk|roll|tile)$/.test(
        call.func.attr,
      );
    if (!made && !method && !/^torch\.nn\.functional\.(?:one_hot|pad)$/.test(name)) continue;
    // The first argument of these is the tensor they work on.
    const of =
      name !== "" &&
      /^(?:multinomial|kthvalue|topk|narrow|split|chunk|roll|tile|one_hot|pad)$/.test(last(name))
        ? call.args[0]
        : null;
    if (!facts.mayBeHot(call)) continue;
    for (const arg of call.args) {
      const { value, name: key } = arg;
      if (arg === of) continue;
      if (
        key === null ||
        /^(?:size|k|num_classes|num_samples|repeats|shifts|length|start|end|steps)$/.test(key)
      )
        for (const part of value.kind === "Tuple" || value.kind === "List" ? value.items : [value])
          if (isCount(part) && everyTurn(call, facts)) yield report(part);
    }
  }
  // `names[predictions.argmax()]`: a list wants a number.
  for (const subscript of file.once(computedPicks))
    if (
      (subscript.index.kind === "Name" || subscript.index.kind === "Call") &&
      facts.mayBeHot(subscript) &&
      isWrittenDown(subscript.value, facts) &&
      isCount(subscript.index) &&
      facts.value(subscript.value).what === "container" &&
      everyTurn(subscript, facts)
    )
      yield report(subscript.index);
  for (const slice of file.all("Slice"))
    for (const bound of [slice.lower, slice.upper]) {
      if (!bound || !isCount(bound)) continue;
      if (everyTurn(slice, facts)) yield report(bound);
      else if (isForEachBatch(slice, facts)) yield { at: bound, severity: "note", message: FOR_EACH_BATCH };
    }
}

/**
 * In a function that every epoch calls for each of its batches beside the loop that trains on them:
 * `[crop(data[i : i + n]) for i in range(0, len(data), n)]`.
 */
function isForEachBatch(node: Node, facts: Facts): boolean {
  const fn = functionOf(node);
  const calls = fn?.kind === "FunctionDef" ? callsOf(fn, facts.file) : [];
  return (
    calls.length > 0 &&
    facts.frequency(node, fn!) === "every" &&
    calls.every((call) => {
      const epochs = facts.epochLoop(call);
      return (
        epochs !== null &&
        facts.frequency(call, epochs) === "every" &&
        ancestors(call).some(
          (at) => /^(?:For|While|Comp)$/.test(at.kind) && at !== epochs && contains(epochs, at),
        )
      );
    })
  );
}

/**
 * `ids.argmax(dim=-1).max() + 1` in what a module's forward runs, of ids that nobody here knows: nothing but a tensor is reduced
 * along one of its dimensions there, and the network is given it. Lengths come as they are, and may be of the host.
 */
function isReducedTwice(expr: Expr, facts: Facts): boolean {
  const cls = facts.accelerator ? classOf(expr) : null;
  if (!cls || !isModuleRole(facts.role(cls)) || !/\bforward\b/.test(facts.hot(expr)?.why ?? "")) return false;
  let at: Expr | null = expr;
  for (let depth = 0; at && depth < 8; depth++) {
    if (at.kind === "Call" && isAlongDimension(at, facts)) {
      const { value } = at.func as Attribute;
      return facts.value(value).device !== "cpu" && !isBroughtBack(value, facts);
    }
    at = reduced(at, facts);
  }
  return false;
}

/**
 * `batch["objects"].max()` in a forward that is given the whole batch: what has that method is a tensor, and a batch goes to the
 * device as a whole. Lengths may be of the host, as packed sequences want them.
 */
function isOfBatch(expr: Expr, facts: Facts): boolean {
  const cls = facts.accelerator ? classOf(expr) : null;
  if (!cls || !isModuleRole(facts.role(cls)) || !/\bforward\b/.test(facts.hot(expr)?.why ?? "")) return false;
  let at: Expr | null = expr;
  for (let depth = 0; at && depth < 8; depth++) {
    if (at.kind === "Subscript" && at.index.kind === "Str") {
      const [given, ...more] = at.value.kind === "Name" ? facts.file.scopes.reaching(at.value) : [];
      return (
        given?.how === "param" &&
        more.length === 0 &&
        !/len|size|shape/i.test(at.index.value ?? "len") &&
        facts.value(at).device !== "cpu"
      );
    }
    at = reduced(at, facts);
  }
  return false;
}

/** `sizes.cpu().long()`, also under a name. */
function isBroughtBack(expr: Expr, facts: Facts): boolean {
  let at: Expr | null = expr;
  for (let depth = 0; at && depth < 8; depth++) {
    if (at.kind === "Call" && at.func.kind === "Attribute") {
      if (/^(?:cpu|numpy)$/.test(at.func.attr)) return true;
      at = at.func.value;
    } else at = at.kind === "Name" ? facts.file.scopes.onlyValue(at) : null;
  }
  return false;
}

/** `mask.sum(1)`, `ids.argmax(dim=-1)`: one number a row. */
function isAlongDimension({ func, args }: Call, { file }: Facts): boolean {
  const [dim, ...more] = args;
  return (
    func.kind === "Attribute" &&
    file.dotted(func) === null &&
    /^(?:sum|argmax|argmin|amax|amin|count_nonzero)$/.test(func.attr) &&
    dim !== undefined &&
    more.length === 0 &&
    (dim.name === "dim" || (dim.name === null && /^(?:Num|Unary)$/.test(dim.value.kind)))
  );
}

/** What `lengths.max()`, `torch.max(lengths)` and `lengths.max() + 1` have read: the lengths. */
function reduced(at: Expr, facts: Facts): Expr | null {
  if (at.kind === "Name") return facts.file.scopes.onlyValue(at);
  if (at.kind === "Binary") return isSingle(at.left, facts, 0) ? at.left : at.right;
  if (at.kind !== "Call" || at.func.kind !== "Attribute") return null;
  if (!/^(?:sum|max|min|amax|amin|long|int|detach|clamp|clip)$/.test(at.func.attr)) return null;
  return reducedBy(at, at.func, facts);
}

/**
 * `(ids != pad).sum()` in a forward: nothing but a tensor has such a sum, and a forward runs where the network is;
 * `batch["attention_mask"].sum(-1).max()` beside the network that is given it; `mask.sum(1).max()` beside `values * mask`.
 */
function isMasked(expr: Expr, facts: Facts): boolean {
  let at: Expr | null = expr;
  let isReduced = false;
  for (let depth = 0; at && depth < 8; depth++) {
    if (at.kind === "Compare")
      return (
        facts.accelerator && /\bforward\b/.test(facts.hot(expr)?.why ?? "") && !/^is|in$/.test(at.ops[0]!)
      );
    if (at.kind === "Subscript" && at.index.kind === "Str")
      return /(?:^|[^a-z])mask$/i.test(at.index.value ?? "") && isGivenToNetwork(at, facts);
    if (at.kind === "Name" && isReduced && isBesideDevice(at, facts)) return true;
    isReduced ||= at.kind === "Call";
    at =
      at.kind === "Name"
        ? facts.file.scopes.onlyValue(at)
        : at.kind === "Binary"
          ? at.left
          : at.kind === "Call" &&
              at.func.kind === "Attribute" &&
              /^(?:sum|max|min|amax|amin|count_nonzero|long|int|clamp|clip)$/.test(at.func.attr)
            ? reducedBy(at, at.func, facts)
            : null;
  }
  return false;
}

/** `lengths` of `lengths.max()` and of `torch.max(lengths)`. */
function reducedBy(call: Call, func: Attribute, { file }: Facts): Expr | null {
  const name = file.dotted(func);
  return name === null ? func.value : name.startsWith("torch.") ? positional(call, 0) : null;
}

/** A name that is a list or dict somewhere: asked without following the flow, of every subscript. */
function isWrittenDown(expr: Expr, { file }: Facts): boolean {
  return (
    expr.kind === "Name" &&
    (file.scopes
      .lookup(expr)
      ?.definitions.some(({ value }) => /^(?:List|Tuple|Dict|Comp)$/.test(value?.kind ?? "")) ??
      false)
  );
}

/** Reduced to one number: `mask.sum()`, `lengths.max() + 1`, one of a vector. */
function isSingle(expr: Expr, facts: Facts, depth: number): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr): boolean => isSingle(inner, facts, depth + 1);
  switch (expr.kind) {
    case "Name": {
      // Most are parameters, or sizes unpacked from a shape: those need no flow analysis.
      const all = facts.file.scopes.lookup(expr)?.definitions;
      if (!all?.some(({ how, value }) => how === "assign" && value && value.kind !== "Num")) return false;
      const source = facts.file.scopes
        .reaching(expr)
        .map(({ how, value }) => (how === "assign" ? value : null));
      return source.length > 0 && source.every((value) => value !== null && again(value));
    }
    case "Binary": {
      // By their form first: the sides of most sizes are neither, and their values need not be asked for.
      const [left, right] = [again(expr.left), again(expr.right)];
      const isNumber = (side: Expr): boolean => /^(?:number|other)$/.test(facts.value(side).what);
      return (left && (right || isNumber(expr.right))) || (right && isNumber(expr.left));
    }
    case "IfExp":
      return again(expr.body) && (again(expr.orelse) || expr.orelse.kind === "Num");
    case "Subscript":
      // What most sizes are: numbers already.
      if (expr.value.kind === "Attribute" && expr.value.attr === "shape") return false;
      // Of what has more dimensions it would be no number, and no size.
      return expr.index.kind === "Name" || expr.index.kind === "Num" || expr.index.kind === "Unary";
    case "Call": {
      if (expr.func.kind !== "Attribute") return false;
      if (facts.file.dotted(expr.func) !== null)
        return (
          /^torch\.(?:sum|max|min|count_nonzero|amax|amin)$/.test(facts.file.dotted(expr.func)!) &&
          expr.args.length === 1
        );
      // `mask.sum().clamp(min=1)`
      if (/^(?:clamp|clip)$/.test(expr.func.attr))
        return expr.args.every(({ value }) => value.kind === "Num") && again(expr.func.value);
      if (expr.args.length > 0) return false;
      return (
        /^(?:sum|max|min|argmax|count_nonzero|amax|amin)$/.test(expr.func.attr) ||
        (/^(?:long|int|detach|round|ceil|floor|squeeze)$/.test(expr.func.attr) && again(expr.func.value))
      );
    }
    default:
      return false;
  }
}

/** Parameters of torch's functions that are Python numbers: a device tensor given for one is read. */
const NUMBERS: Readonly<Record<string, readonly [name: string, at: number][]>> = {
  full: [["fill_value", 1]],
  full_like: [["fill_value", 1]],
  new_full: [["fill_value", 1]],
  leaky_relu: [["negative_slope", 1]],
  threshold: [["threshold", 1]],
  dropout: [["p", 1]],
  huber_loss: [["delta", 3]],
  smooth_l1_loss: [["beta", 5]],
  add: [["alpha", 9]],
  sub: [["alpha", 9]],
  add_: [["alpha", 9]],
  sub_: [["alpha", 9]],
  addcmul: [["value", 9]],
  addcdiv: [["value", 9]],
};

function* scalars(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const report = (at: Expr): Finding => ({
    at,
    message: "Only a Python number fits here: the device tensor is read for it, with a wait, on every step",
  });
  for (const call of file.callsNamed(...Object.keys(NUMBERS))) {
    if (!facts.mayBeHot(call)) continue;
    const name = file.dotted(call.func);
    const word = name !== null ? last(name) : call.func.kind === "Attribute" ? call.func.attr : "";
    if (name !== null && !/^torch\.(?:nn\.functional\.)?\w+$/.test(name)) continue;
    for (const [key, at] of NUMBERS[word] ?? []) {
      const given = argument(call, key, at);
      if (given && isTensor(given, facts) && everyTurn(call, facts)) yield report(given);
    }
  }
  // With two tensors, or one bound alone, `clamp` stays on the device; a number beside a tensor makes both numbers.
  for (const call of file.callsNamed("clamp", "clip", "clamp_")) {
    if (!facts.mayBeHot(call)) continue;
    const name = file.dotted(call.func);
    if (name !== null && !/^torch\.(?:clamp|clip)$/.test(name)) continue;
    const from = name === null ? 0 : 1;
    const bounds = [argument(call, "min", from), argument(call, "max", from + 1)];
    const tensor = bounds.find((one) => one && isTensor(one, facts));
    if (tensor && bounds.some((one) => one && facts.value(one).what === "number") && everyTurn(call, facts))
      yield report(tensor);
  }
}

/** `if pad_id in tokens:` compares on the device and reads the answer. */
function* members(facts: Facts): Generator<Finding> {
  for (const compare of facts.file.all("Compare")) {
    const [right] = compare.rights;
    if (compare.rights.length !== 1 || !right || !/^(?:not )?in$/.test(compare.ops[0]!)) continue;
    if (!facts.mayBeHot(compare)) continue;
    // Nearly all others ask a dict, or a list written down.
    if (right.kind !== "Name" && selfAttribute(right) === null) continue;
    if (compare.left.kind === "Str" || !isTensor(right, facts) || !everyTurn(compare, facts)) continue;
    yield {
      at: compare,
      message: "`in` searches the device tensor and reads the answer on the host, with a wait, on every step",
    };
  }
}
