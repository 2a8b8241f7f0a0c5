import { argument, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, statementOf } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { everyUpdate } from "../facts/updates.ts";
import type { Facts } from "../facts/facts.ts";
import { isLikelyOften } from "../facts/likely-often.ts";
import { loopsAround } from "../facts/training.ts";
import { isUsedAsTensor } from "../facts/tensor-use.ts";
import { HOST_FACTORIES, last } from "../facts/torch-names.ts";
import type { Finding, Rule } from "../rule.ts";
import {
  TENSOR_TYPES,
  isConstant,
  isConstantFactory,
  isCounted,
  isEntry,
  isKeptSetting,
  isLiteral,
  isPython,
} from "../facts/host-constants.ts";

export const rule: Rule = {
  meta: {
    code: "PLM033",
    name: "constant-copied-every-step",
    summary: "A constant is built from Python data and copied to the device again and again",
    severity: "warning",
    fix: "none",
    patterns: [33],
  },
  *check(facts) {
    for (const found of findings(facts))
      if (
        !facts.guesses ||
        (isLikelyOften(found.at as Node, facts) && !isInstead(found.at as Node, facts.file))
      )
        yield found;
  },
};

/** `return torch.tensor(0.0, device=device)` where there is nothing to compare, `else: loss = torch.tensor(0.0).to(device)`: no other step has it. */
function isInstead(node: Node, file: PythonFile): boolean {
  const statement = statementOf(node);
  const branch = statement?.parent;
  return (
    branch?.kind === "If" &&
    (statement!.kind === "Return" || branch.orelse.includes(statement as never)) &&
    /^torch\.(?:\w*[tT]ensor|zeros)\(\[?(?:0(?:\.0*)?|1)?\]?[,)]/.test(file.textOf(node))
  );
}

function* findings(facts: Facts): Generator<Finding> {
  // Pictures are transformed on the host, by the loader.
  if (/(?:^|\/)transforms?(?:\/|\.py$)/.test(facts.file.path) && facts.file.mentions("PIL")) return;
  for (const call of facts.file.callsNamed(
    ...HOST_FACTORIES,
    ...TENSOR_TYPES,
    "new_tensor",
    "to",
    "cuda",
    "type_as",
  )) {
    if (isDeviceType(call, facts)) {
      const hot = facts.everyStep(call);
      if (hot)
        yield {
          at: call,
          message: `This constant is built on the host and copied, synchronously, ${when(hot.why)}; make it a buffer once`,
        };
    } else if (isConstantFactory(call, facts)) {
      const device = keyword(call, "device");
      if (!device || facts.device(device.value) === "cpu" || isNamedCpu(device.value)) continue;
      if (isOfHostCallers(device.value, facts)) continue;
      const hot = facts.hot(call);
      if (hot && (facts.frequency(call, hot.within) === "every" || everyUpdate(call, facts)))
        yield {
          at: call,
          ...(isFallback(call, facts) || isOfEntry(call, facts) ? { severity: "note" as const } : {}),
          message: `This constant is built on the host and copied, synchronously, ${when(hot.why)}; ${once(call)}`,
        };
    } else if (isMoved(call, facts) && facts.everyStep(call)) {
      yield {
        at: call,
        severity: "note",
        message:
          "Python numbers are made into a tensor on the host and copied, synchronously, on every step; keep them as numbers, or compute them on the device",
      };
    } else if (
      call.func.kind === "Attribute" &&
      call.func.attr === "new_tensor" &&
      call.args[0] &&
      (isLiteral(call.args[0].value) || isCounted(call.args[0].value, facts))
    ) {
      const hot = facts.everyStep(call);
      if (hot && facts.file.dotted(call.func) === null)
        yield {
          at: call,
          severity: "note",
          message: `This constant is built on the host and copied, synchronously, ${when(hot.why)}; make it a buffer once`,
        };
    } else if (call.func.kind === "Attribute" && (call.func.attr === "to" || call.func.attr === "cuda")) {
      const made = madeFrom(call.func.value, facts);
      // `[torch.zeros(1).to(device) for …]`: as many places for a collective to write to.
      if (!made || call.parent?.kind === "Comp") continue;
      const device = facts.device(positional(call, 0));
      if (device === "cpu") continue;
      // `.to(times)`, in a script that trains and never names a device.
      if (device === "unknown" && facts.backwards.length > 0 && !namesDevice(facts.file)) continue;
      const hot = facts.hot(call);
      // A loop over modules or parameters copies once for each, however often it runs itself.
      const perModule = loopsAround(call).some(
        (loop) =>
          loop.kind === "For" &&
          loop.iter.kind === "Call" &&
          loop.iter.func.kind === "Attribute" &&
          /^(?:named_)?(?:modules|parameters|children)$/.test(loop.iter.func.attr) &&
          !(loop.start <= made.start && made.end <= loop.end),
      );
      const often = hot && (facts.frequency(call, hot.within) === "every" || everyUpdate(call, facts));
      if (!often && !perModule) continue;
      yield {
        at: call,
        ...(isOfEntry(made, facts) ? { severity: "note" as const } : {}),
        message: perModule
          ? "The same constant is copied from the host for every module; copy it once, before the loop, or keep it as a buffer"
          : `A constant made on the host is copied to the device ${when(hot!.why)}; ${once(made)}`,
      };
    }
  }
  yield* sentByHelper(facts);
  yield* besideBatches(facts);
  if (facts.guesses) yield* ofNumbers(facts);
}

/** `torch.tensor(self.margins).to(x.device)` in a step: Python numbers, as far as what they are called and made of says. */
function* ofNumbers(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed(...HOST_FACTORIES, ...TENSOR_TYPES, "new_tensor")) {
    const data = positional(call, 0) ?? keyword(call, "data")?.value ?? null;
    if (data === null || call.parent?.kind === "Comp") continue;
    const sent = sentAnyhow(call, facts);
    const isNew = file.dotted(call.func) === null && lastWord(call.func) === "new_tensor";
    if (!isNew && (!(file.dotted(call.func) ?? "").startsWith("torch.") || sent === null)) continue;
    if (TENSOR_TYPES.includes(lastWord(call.func)) && data.kind === "Num") continue;
    if (!isNumbers(data, facts) || !facts.everyStep(call)) continue;
    const device = keyword(call, "device")?.value;
    if (device && isOfHostCallers(device, facts)) continue;
    yield {
      at: sent ?? call,
      severity: "note",
      message:
        "Python numbers are made into a tensor on the host and copied, synchronously, on every step; keep them as numbers, or make it once",
    };
  }
}

/** Also by the name it is given: `w = torch.tensor(…)`, `w = w.to(device)`. */
function sentAnyhow(call: Call, facts: Facts): Call | null {
  if (isSent(call, facts)) return call;
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  for (const { parent } of made ? facts.file.scopes.uses(made) : []) {
    const sent =
      parent?.kind === "Attribute" && /^(?:to|cuda|type_as)$/.test(parent.attr) ? parent.parent : null;
    const isPlaced = (value: Expr): boolean =>
      !isNamedCpu(value) && /device|cuda|dev\b|gpu/i.test(facts.file.textOf(value));
    if (
      sent?.kind === "Call" &&
      (lastWord(sent.func) !== "to" || sent.args.some(({ value }) => isPlaced(value)))
    )
      return sent;
  }
  return null;
}

/** What holds examples, ids of them or what came of them: another one for each batch. */
const EXAMPLES =
  /batch|label|target|input|token|ids?$|^[xyt]s?$|obs|state|action|reward|done|return|length|index|indices|idx|data|sample|image|img|seq|pred|box|point|text|mask|timestep|step|time|score|prob|result|out|list$|lens$/i;

/** Numbers that nothing says are the batch's. */
function isNumbers(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 5) return false;
  const { file } = facts;
  const again = (one: Expr): boolean => isNumbers(one, facts, depth + 1);
  if (facts.value(expr).what === "tensor" || facts.value(expr).what === "output") return false;
  switch (expr.kind) {
    case "Num":
      return true;
    case "List":
    case "Tuple":
      return expr.items.length > 0 && expr.items.every(again);
    case "Unary":
      return again(expr.operand);
    case "Binary":
      return expr.op === "*" && (expr.left.kind === "List" || expr.right.kind === "List")
        ? again(expr.left.kind === "List" ? expr.left : expr.right)
        : again(expr.left) && again(expr.right);
    case "Comp":
      return (
        expr.flavour !== "dict" &&
        expr.clauses.every(({ iter }) => isRangeOf(iter, file) || again(iter)) &&
        !/\bstr\(|\[/.test(file.textOf(expr.element))
      );
    case "Call":
      return (
        /^(?:builtins\.(?:float|int|list|tuple|range|max|min|abs|sum|sorted|round|pow)|math\.\w+|numpy\.(?:array|asarray|linspace|arange|log\w*|sqrt|exp|ones|zeros|full|float32))$/.test(
          file.dotted(expr.func) ?? "",
        ) && expr.args.every(({ value, name }) => name === "dtype" || again(value))
      );
    case "Attribute": {
      if (/^(?:float32|float64|pi|e|shape)$/.test(expr.attr)) return true;
      const own = selfAttribute(expr);
      if (own === null) return isConstant(expr, facts, 0);
      return !EXAMPLES.test(own) && isKeptSetting(expr, facts);
    }
    case "Subscript":
      // `x.shape[2:]`: its sizes, which are numbers of the host.
      return (expr.value.kind === "Attribute" && expr.value.attr === "shape") || isEntry(expr, facts);
    case "Name": {
      const definitions = file.scopes.lookup(expr)?.definitions ?? [];
      if (EXAMPLES.test(expr.id)) return false;
      if (definitions.every(({ how }) => how === "import")) return /^[A-Z][A-Z\d_]+$/.test(expr.id);
      return definitions.every(
        ({ how, value, node }) =>
          (how === "assign" && value !== null && again(value)) ||
          (how === "param" && node.kind === "Param" && node.default?.kind === "Num") ||
          (how === "iterate" && value !== null && isRangeOf(value, file) && node.parent?.kind === "Clause"),
      );
    }
    default:
      return false;
  }
}

const isRangeOf = (iter: Expr, file: PythonFile): boolean =>
  iter.kind === "Call" && file.dotted(iter.func) === "builtins.range";

/** A single number is often what a sum begins with: one buffer for all steps would be summed into. */
function once(made: Call): string {
  const data = positional(made, 0);
  const one = data?.kind === "List" && data.items.length === 1 ? data.items[0] : data;
  return one?.kind === "Num" ? "`torch.full` makes it there" : "make it a buffer once";
}

/** `to_gpu(torch.tensor([0.5]))`, of a function that sends what it is given. */
function* sentByHelper(facts: Facts): Generator<Finding> {
  for (const call of facts.callsTo("copies")) {
    const made = call.args[0]?.value;
    if (made?.kind !== "Call" || !isFilled(made, facts) || keyword(made, "device")) continue;
    const data = positional(made, 0);
    if (!data || !(isConstant(data, facts, 0) || isPython(data, facts))) continue;
    const callee = facts.callee(call);
    const first = callee?.params[callee.params[0] === "self" ? 1 : 0];
    if (!first || callee?.copies?.includes(first) !== true || !facts.everyStep(call)) continue;
    yield {
      at: call,
      severity: "note",
      message:
        "Python numbers are made into a tensor on the host and copied, synchronously, on every step; keep them as numbers, or make it once",
    };
  }
}

/** `mean = torch.tensor(self.mean, device=self.device)` in a loader that wraps another one: no step is seen, and each waits for it. */
function* besideBatches(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (!facts.accelerator || !namesDevice(file)) return;
  for (const call of file.callsNamed(...HOST_FACTORIES, ...TENSOR_TYPES)) {
    const data = positional(call, 0);
    const isKept =
      data !== null &&
      isFilled(call, facts) &&
      (isKeptSetting(data, facts) || isNumberOfMaker(data, functionOf(call), facts));
    if ((!isKept && !isConstantFactory(call, facts)) || !isSent(call, facts)) continue;
    if (facts.hot(call) || !(isWithEachBatch(call, facts) || isInPreparation(call, facts))) continue;
    yield {
      at: call,
      severity: "note",
      message:
        "This constant is built on the host and copied, synchronously, with every batch that is handed out; make it once, before the first",
    };
  }
}

/** `torch.tensor(x, device=device)`, `torch.tensor(x).view(1, 3, 1, 1).to(device)` */
function isSent(call: Call, facts: Facts): boolean {
  const isDevice = (expr: Expr | undefined): boolean =>
    expr !== undefined &&
    !isNamedCpu(expr) &&
    facts.device(expr) !== "cpu" &&
    (facts.isAccelerator(facts.device(expr)) || /device|cuda/i.test(facts.file.textOf(expr)));
  if (isDevice(keyword(call, "device")?.value)) return true;
  for (let at: Expr = call; ;) {
    const around = computedOf(at, facts);
    if (around) {
      at = around;
      continue;
    }
    if (at.parent?.kind !== "Attribute") return false;
    const { attr, parent }: Attribute = at.parent;
    if (parent?.kind !== "Call" || parent.func !== at.parent) return false;
    if (attr === "cuda" || (attr === "to" && parent.args.some(({ value }) => isDevice(value)))) return true;
    at = parent;
  }
}

/** `torch.log(torch.tensor(x))`, `-torch.tensor(x)`, `1 / torch.tensor(x)`: of numbers alone, what is computed before it is sent is the same in every step too. */
function computedOf({ parent }: Expr, facts: Facts): Expr | null {
  if (parent?.kind === "Unary") return parent;
  if (parent?.kind === "Binary")
    return [parent.left, parent.right].some((side) => isNumbers(side, facts)) ? parent : null;
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return call?.kind === "Call" && call.args[0] === parent && isElementwise(call, facts) ? call : null;
}

const ELEMENTWISE =
  /^torch\.(?:log(?:2|10|1p|it)?|exp|sqrt|rsqrt|square|pow|abs|neg|reciprocal|sin|cos|tanh|sigmoid|softmax|flip|cumsum|cumprod|deg2rad|outer)$/;

/** `torch.log(x)`, of nothing else but numbers. */
const isElementwise = ({ args, func }: Call, facts: Facts): boolean =>
  ELEMENTWISE.test(facts.file.dotted(func) ?? "") &&
  args.slice(1).every(({ value }) => isNumbers(value, facts));

/**
 * In a function that another one makes and hands out, and that sends what it is given to the device:
 * `def set_up(): def prepare(batch): return batch.cuda() * torch.tensor([scale], device="cuda")`, and `return loader, prepare`.
 */
function isInPreparation(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef" || functionOf(fn) === null || facts.frequency(call, fn) !== "every")
    return false;
  const isHandedOut = file
    .all("Name")
    .some(
      ({ id, parent, start }) =>
        id === fn.name &&
        start > fn.end &&
        (parent?.kind === "Return" || (parent?.kind === "Tuple" && parent.parent?.kind === "Return")),
    );
  return (
    isHandedOut &&
    file.callsNamed("to", "cuda").some((sent) => {
      let root: Expr = sent.func;
      while (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
      const { id } = root.kind === "Name" ? root : { id: null };
      return functionOf(sent) === fn && fn.params.some(({ name }) => name === id);
    })
  );
}

/** `[scale]`, of a number that the function around the one it is used in has set. */
function isNumberOfMaker(data: Expr, fn: Node | null, facts: Facts): boolean {
  const items = data.kind === "List" || data.kind === "Tuple" ? data.items : [data];
  return (
    fn !== null &&
    items.length > 0 &&
    items.every((item) => {
      const made = item.kind === "Name" ? (facts.file.scopes.lookup(item)?.definitions ?? []) : [];
      return (
        made.length > 0 &&
        made.every(
          ({ how, node, value }) =>
            how === "assign" && !contains(fn, node) && value !== null && facts.value(value).what === "number",
        )
      );
    })
  );
}

/** In a loop over a loader that yields its batches, or in what draws the next one ahead: `self.batch = next(self.loader)`. */
function isWithEachBatch(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const cls = classOf(call);
  // What a dataset yields is made by a worker.
  if (fn?.kind !== "FunctionDef" || (cls && facts.role(cls) === "dataset")) return false;
  const [loop] = loopsAround(call);
  if (loop)
    return (
      loop.kind === "For" &&
      /load|batch/i.test(file.textOf(loop.iter)) &&
      file.all("Yield").some((one) => functionOf(one) === fn && contains(loop, one)) &&
      facts.frequency(call, loop) === "every"
    );
  return fn.name !== "__init__" && drawsOne(fn, facts) && facts.frequency(call, fn) === "every";
}

/** `self.batch = next(self.loader)`, once in a call: of an iterator that the object keeps, so that each call draws another. */
function drawsOne(fn: FunctionDef, { file }: Facts): boolean {
  return file.callsNamed("next").some((one) => {
    const drawn = positional(one, 0);
    return (
      functionOf(one) === fn &&
      loopsAround(one).length === 0 &&
      file.dotted(one.func) === "builtins.next" &&
      drawn !== null &&
      /load|batch/i.test(selfAttribute(drawn) ?? "")
    );
  });
}

function namesDevice(file: PythonFile): boolean {
  return file.mentions("device") || file.mentions("cuda");
}

/** `return torch.tensor(0.0, …)` of a function that returns something else under a test: which of them, a setting decides. */
function isFallback(call: Call, { file }: Facts): boolean {
  const fn = functionOf(call);
  return (
    call.parent?.kind === "Return" &&
    file.all("Return").some((one) => one !== call.parent && functionOf(one) === fn)
  );
}

/** `torch.tensor(step / total, device=device)`, `torch.tensor([len(s) for s in batch]).to(device)` */
function isMoved(call: Call, facts: Facts): boolean {
  const { func } = call;
  const to = func.kind === "Attribute" && /^(?:to|cuda|type_as)$/.test(func.attr) ? func : null;
  const made = to ? unshaped(to.value, facts) : call;
  if (made.kind !== "Call" || !isFilled(made, facts) || (made !== call && keyword(made, "device")))
    return false;
  const device = keyword(call, "device")?.value ?? (to ? positional(call, 0) : null);
  const likeTensor = to?.attr === "type_as";
  if (to?.attr !== "cuda" && !(device && isStepsDevice(device, likeTensor, facts))) return false;
  const data = positional(made, 0);
  return data !== null && !isConstant(data, facts, 0) && (isPython(data, facts) || isCounted(data, facts));
}

/** `device`, `x.device`, `x` itself: where the step runs, also of an `x` that nobody here knows, unless every caller has it on the host. */
function isStepsDevice(expr: Expr, isTensor: boolean, facts: Facts): boolean {
  const device = facts.device(expr);
  if (device !== "unknown") return facts.isAccelerator(device);
  const of = expr.kind === "Attribute" && expr.attr === "device" ? expr.value : expr;
  const value = facts.value(of);
  if (facts.isAccelerator(value.device)) return true;
  return (
    facts.accelerator &&
    value.device === "unknown" &&
    (of !== expr || isTensor || value.what === "tensor" || isAskedAsTensor(expr, facts)) &&
    !isOfHostCallers(expr, facts)
  );
}

/** `.to(entropies)`, of what is used as no device and no type can be. */
function isAskedAsTensor(expr: Expr, { file }: Facts): boolean {
  const definitions = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  return definitions.length > 0 && definitions.every((one) => isUsedAsTensor(one, file));
}

/** Methods that give the same numbers, in another shape or type. */
const SHAPING = /^(?:view|reshape|unsqueeze|float|half|long|t|expand|type|repeat)$/;

/** What is given another shape or type: `torch.tensor(x)` of `torch.tensor(x)[None].view(1, 3)`, also by a name. */
function unshaped(expr: Expr, facts: Facts): Expr {
  if (expr.kind === "Subscript") return unshaped(expr.value, facts);
  if (expr.kind === "Name") return facts.file.scopes.onlyValue(expr) ?? expr;
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    facts.file.dotted(expr.func) === null &&
    SHAPING.test(expr.func.attr)
    ? unshaped(expr.func.value, facts)
    : expr;
}

/** `torch.tensor(x)`, `torch.LongTensor([pad])` */
function isFilled(call: Call, { file }: Facts): boolean {
  const name = file.dotted(call.func) ?? "";
  const data = call.args[0]?.value;
  return (
    /^torch\.(?:(?:as_)?tensor|from_numpy)$/.test(name) ||
    // `torch.LongTensor(n)` is a shape.
    (name === `torch.${last(name)}` &&
      TENSOR_TYPES.includes(last(name)) &&
      call.args.length === 1 &&
      data !== undefined &&
      isWrittenOut(data.kind === "Name" ? (file.scopes.onlyValue(data) ?? data) : data, file))
  );
}

/** A list or what makes one: a plain number would be a size, and a name may be anything. */
function isWrittenOut(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Binary") return isWrittenOut(expr.left, file) || isWrittenOut(expr.right, file);
  if (expr.kind === "Call")
    return /^(?:builtins\.(?:list|tuple|range|sorted|reversed)|numpy\.\w+)$/.test(
      file.dotted(expr.func) ?? "",
    );
  return expr.kind === "List" || expr.kind === "Tuple" || expr.kind === "Comp";
}

/** `torch.cuda.FloatTensor([1.0])` */
function isDeviceType(call: Call, facts: Facts): boolean {
  const data = positional(call, 0);
  return (
    /^torch\.cuda\.\w+Tensor$/.test(facts.file.dotted(call.func) ?? "") &&
    (data?.kind === "List" || data?.kind === "Tuple") &&
    isConstant(data, facts, 0)
  );
}

function when(why: string): string {
  return why.startsWith("in ") ? "on every step" : `on every call (${why})`;
}

/** Of an entry of settings, which may hold anything and may be changed by anyone: `torch.tensor(cfg["mean"])`, also by a name. */
function isOfEntry(made: Call, facts: Facts): boolean {
  const data = positional(made, 0);
  return data !== null && holdsEntry(data, facts);
}

function holdsEntry(expr: Expr, facts: Facts, depth = 0): boolean {
  if (depth > 4) return false;
  const again = (inner: Expr | null): boolean => inner !== null && holdsEntry(inner, facts, depth + 1);
  if (expr.kind === "List" || expr.kind === "Tuple") return expr.items.some(again);
  if (expr.kind === "Binary") return again(expr.left) || again(expr.right);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) return (attributesOf(cls, facts.file).get(own!)?.writes ?? []).some(({ value }) => again(value));
  if (expr.kind === "Name")
    return (facts.file.scopes.lookup(expr)?.definitions ?? []).some(({ value }) => again(value));
  return isEntry(expr, facts);
}

/** `t.device` of a parameter that every call in this file is given on the host. */
function isOfHostCallers(device: Expr, facts: Facts): boolean {
  const fn = functionOf(device);
  if (device.kind !== "Attribute" || device.attr !== "device" || device.value.kind !== "Name") return false;
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind === "ClassDef") return false;
  const { id } = device.value;
  const at = fn.params.findIndex(({ name }) => name === id);
  const calls = facts.file.callsNamed(fn.name).filter((call) => call.func.kind === "Name");
  return (
    at >= 0 &&
    calls.length > 0 &&
    calls.every((call) => {
      const given = argument(call, id, at);
      return given !== null && facts.value(given).device === "cpu";
    })
  );
}

function isNamedCpu(expr: Expr): boolean {
  return expr.kind === "Str" && expr.value === "cpu";
}

/** The factory call behind a receiver: the call itself, or the one definition of the name. */
function madeFrom(expr: Expr, facts: Facts): Call | null {
  // `torch.tensor([…])[None].view(1, 3, 1, 1)`
  if (expr.kind === "Subscript") return madeFrom(expr.value, facts);
  if (
    expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    facts.file.dotted(expr.func) === null &&
    SHAPING.test(expr.func.attr)
  )
    return madeFrom(expr.func.value, facts);
  // `-torch.log(torch.tensor([…]))`
  if (expr.kind === "Unary") return madeFrom(expr.operand, facts);
  if (expr.kind === "Call" && expr.args[0] && isElementwise(expr, facts))
    return madeFrom(expr.args[0].value, facts);
  if (expr.kind === "Call") return isConstantFactory(expr, facts) && !keyword(expr, "device") ? expr : null;
  if (expr.kind !== "Name") return null;
  const value = facts.file.scopes.onlyValue(expr);
  return value?.kind === "Call" && isConstantFactory(value, facts) && !keyword(value, "device")
    ? value
    : null;
}
