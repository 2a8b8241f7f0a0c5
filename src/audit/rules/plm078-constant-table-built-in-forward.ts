import { classOf, functionOf, lastWord, namesIn } from "../../python/nodes.ts";
import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, ClassDef, Expr, FunctionDef, Lambda, Node } from "../../python/tree.ts";
import { unfilledCaches } from "../facts/caches.ts";
import type { Unfilled } from "../facts/caches.ts";
import { attributesOf, isModuleRole, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import {
  isByDefault,
  isFixed,
  isOfModule,
  isSetting,
  isTold,
  isWidth,
  namedSetting,
  partsOf,
} from "../facts/own-settings.ts";
import { callsOf } from "../facts/returns.ts";
import { callTarget } from "../facts/summary.ts";
import { last } from "../facts/torch-names.ts";
import { isForKeeping, isKeptInVain, isLikelyTable, isRow } from "../facts/likely-tables.ts";
import { isUsedOnGiven } from "../facts/used-on-given.ts";
import type { Finding, Rule } from "../rule.ts";
import { TABLES, isCount, isPlace, isPositions, waveMakers } from "../facts/position-tables.ts";
import {
  TABLE_MAKERS,
  handingMethods,
  isOfConstants,
  isSchedule,
  namedMaker,
  tableMakers,
} from "../facts/table-makers.ts";

export const rule: Rule = {
  meta: {
    code: "PLM078",
    name: "constant-table-built-in-forward",
    summary: "A forward builds the same table from the module's own settings every time",
    severity: "note",
    fix: "none",
    patterns: [78],
    hotOnly: true,
  },
  *check(facts) {
    for (const found of tables(facts))
      if (
        !facts.guesses ||
        (!isForKeeping(found.at as Node, facts.file) && !isRow(found.at as Node, facts.file))
      )
        yield found;
    for (const cache of unfilledCaches(facts)) yield unfilled(cache);
  },
};

function* tables(facts: Facts): Generator<Finding> {
  yield* filters(facts);
  yield* built(facts);
  yield* waves(facts);
  yield* distances(facts);
  yield* grids(facts);
  yield* ownEdges(facts);
  yield* windows(facts);
  yield* toldWindows(facts);
  yield* ofSettings(facts);
  if (!facts.guesses) return;
  yield* byNames(facts);
  yield* keptInVain(facts);
}

/** `torch.linspace(0, 1, self.steps)`, `torch.tril(torch.ones(self.n, self.n))` */
function* ofSettings(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed(...TABLES, "tril", "triu")) {
    const name = facts.file.dotted(call.func) ?? "";
    const fn = functionOf(call);
    const cls = classOf(call);
    // `torch.ones(self.size, self.size).tril()`
    const ones = name === "" && call.func.kind === "Attribute" ? call.func.value : positional(call, 0);
    const mask = /^(?:(?:torch\.)?(?:tril|triu))$/.test(name || lastWord(call.func)) && isOnes(ones, facts);
    if (!mask && name !== `torch.${last(name)}` && name !== `numpy.${last(name)}`) continue;
    if (fn?.kind !== "FunctionDef" || !mayBuild(fn, cls, mask ? "mask" : last(name), facts)) continue;
    if (!(TABLES.has(last(name)) || mask)) continue;
    const sizes = mask ? (ones as Call) : call;
    const values = sizes.args
      .filter((arg) => arg.name !== "device" && arg.name !== "dtype")
      // `torch.ones((self.n, self.n))`
      .flatMap(({ value }) => (value.kind === "Tuple" || value.kind === "List" ? value.items : [value]));
    // A few numbers cost nothing; one size of the module's own makes it a table.
    if (
      values.length === 0 ||
      !values.every((value) => isSetting(value, facts) || isByDefault(value, facts)) ||
      !values.some((value) => reads(value, facts))
    )
      continue;
    if (facts.everyStep(call))
      yield {
        at: call,
        message: `The same \`${lastWord(call.func)}\` is built in every forward from settings that never change; build it once, as a buffer with \`persistent=False\``,
      };
  }
}

/** Of sizes and settings, as far as names say, by a function that is called like one that makes a table. */
function* byNames(facts: Facts): Generator<Finding> {
  const seen = new Set<unknown>();
  for (const call of facts.file.calls.matching(LIKELY)) {
    if (seen.has(functionOf(call)) || !isLikelyTable(call, facts)) continue;
    seen.add(functionOf(call));
    yield {
      at: call,
      message: `\`${lastWord(call.func)}\` makes the same table of sizes and settings in every step; build it once, and keep it`,
    };
  }
}

/** Of a forward that has a method of its own put the table on self, without asking whether it is there. */
function* keptInVain(facts: Facts): Generator<Finding> {
  for (const { value } of facts.file.all("ExprStmt"))
    if (value.kind === "Call" && isKeptInVain(value, facts))
      yield {
        at: value,
        message: `\`${lastWord(value.func)}\` makes the same table of places in every forward, though it is kept; ask first whether it is there, of that size`,
      };
}

const LIKELY =
  /^(?:sin|cos|polar|linspace|logspace|\w+_window)$|sin_?cos|sinusoid|rope|rotary|freq|alibi|mel|dct|bank|window|kernel|hadamard|anchors|priors|grid|pos\w*_(?:emb|enc|table|index)|rel\w*_|beta|schedule|table/i;

/**
 * A forward, or what it calls of its class, where the same numbers come again. In `def add_noise(self, x, t)` of a schedule that is
 * no module, and in a function of its own, a range of whole numbers may count the batch; a table of others is made of settings.
 */
function mayBuild(fn: FunctionDef, cls: ClassDef | null, made: string, facts: Facts): boolean {
  if (fn.name === "__init__") return false;
  if (cls && fn.parent === cls && (isForward(cls, fn, facts) || isLossOf(cls))) return true;
  if (cls && fn.name === "forward") return isForward(cls, fn, facts);
  return (
    /^(?:linspace|logspace|\w+_window|mask)$/.test(made) &&
    fn.decorators.length === 0 &&
    (fn.parent === cls
      ? cls !== null && facts.role(cls) !== "dataset"
      : // One that is given nothing makes the table for those who call it.
        fn.parent?.kind === "Module" && fn.params.some((param) => param.default === null))
  );
}

/** A method of a module, or `__call__` of an object that is none, which is a forward too: `class Rotary: def __call__(self, ids)`. */
function isForward(cls: ClassDef, fn: FunctionDef | Lambda, facts: Facts): boolean {
  return isModuleRole(facts.role(cls)) || (fn.kind === "FunctionDef" && RUNS.test(fn.name));
}

const RUNS = /^(?:__call__|forward)$/;
const WINDOW = /window/i;

/** `class BoxLoss: def __call__(self, boxes)`, with what that calls. */
function isLossOf(cls: ClassDef): boolean {
  return /loss|criterion/i.test(cls.name) && methodsOf(cls).some(({ name }) => RUNS.test(name));
}

/**
 * A method, or a function of the file that measures what it is given: `def rotate(x): n, d = x.shape[-2:]`. One that is only
 * told the sizes makes the table for those who call it.
 */
function isPartOfForward(fn: FunctionDef, facts: Facts): boolean {
  if (fn.parent?.kind === "ClassDef") return isForward(fn.parent, fn, facts);
  const { file } = facts;
  return (
    fn.parent?.kind === "Module" &&
    fn.decorators.length === 0 &&
    file
      .all("Attribute")
      .some(
        ({ attr, value }) =>
          (attr === "shape" || attr === "size") &&
          value.kind === "Name" &&
          functionOf(value) === fn &&
          file.scopes.reaching(value).some(({ how }) => how === "param"),
      )
  );
}

function unfilled({ asked, cache, why, maybe }: Unfilled): Finding {
  if (why === "never raised")
    return {
      at: asked,
      severity: "note",
      message: `\`${cache}\` is never raised: this holds in every forward, and what is below is computed again each time`,
    };
  if (why === "None here" || why === "None below")
    return {
      at: asked,
      severity: "note",
      message: `\`${cache}\` stays None: what is computed ${why.slice(5)} is never kept in it, and every forward computes it again`,
    };
  const put =
    why === "nothing put"
      ? "computed and never put there"
      : `put there under another key than \`${why.key}\``;
  return {
    at: asked,
    severity: maybe ? "note" : "warning",
    message: `What is missing from \`${cache}\` is ${put}: it is missed and computed again every time`,
  };
}

function isOnes(expr: Expr | null, facts: Facts): boolean {
  return expr?.kind === "Call" && facts.file.dotted(expr.func) === "torch.ones";
}

function reads(expr: Expr, facts: Facts): boolean {
  // Written down, from this size on it is a table too.
  if (expr.kind === "Num") return Number(expr.text) >= 256;
  if (expr.kind === "Name") {
    const inner = namedSetting(expr, facts);
    return inner !== null && reads(inner, facts);
  }
  if (expr.kind === "Attribute" && expr.value.kind === "Attribute") return reads(expr.value, facts);
  return (
    partsOf(expr, facts)?.some((part) => reads(part, facts)) ??
    (selfAttribute(expr) !== null || isOfModule(expr, facts))
  );
}

/** `self.window(self.length)` of `self.window = torch.hann_window`, also by its name: `getattr(torch, self.window)(self.length)`. */
function* windows(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const picked = file
    .callsNamed("getattr")
    .flatMap(({ parent }) => (parent?.kind === "Call" && parent.func.kind === "Call" ? [parent] : []));
  const calls = [...file.calls.matching(WINDOW), ...picked];
  if (calls.length === 0 || !file.mentions("_window")) return;
  const isWindow = (value: Expr | null): boolean =>
    value !== null &&
    (/^torch\.\w+_window$/.test(file.dotted(value) ?? "") ||
      (value.kind === "Call" &&
        file.dotted(value.func) === "builtins.getattr" &&
        /^torch\b/.test(file.dotted(positional(value, 0) ?? value) ?? "")));
  for (const call of calls) {
    const own = selfAttribute(call.func);
    const cls = /window/i.test(own ?? (call.func.kind === "Call" ? file.textOf(call.func) : ""))
      ? classOf(call)
      : null;
    const writes = cls && own !== null ? (attributesOf(cls, file).get(own)?.writes ?? []) : [];
    const makers = own === null ? [call.func] : writes.map(({ value }) => value);
    const fn = functionOf(call);
    if (!cls || !fn || makers.length === 0 || !makers.every(isWindow)) continue;
    const sizes = call.args.map(({ value }) => value).filter((value) => !isPlace(value));
    if (
      fn.kind === "FunctionDef" &&
      fn.name !== "__init__" &&
      isForward(cls, fn, facts) &&
      sizes.length > 0 &&
      sizes.every((value) => isSetting(value, facts)) &&
      facts.everyStep(call)
    )
      yield {
        at: call,
        message:
          "The same window is built in every forward from settings that never change; build it once, as a buffer with `persistent=False`",
      };
  }
}

/**
 * `torch.hann_window(n_fft)` in `def magnitude(wave, n_fft=1024)`, which has the wave to do something with: the same unless its
 * settings change.
 */
function* toldWindows(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.calls.matching(WINDOW)) {
    const fn = functionOf(call);
    const sizes = call.args.map(({ value }) => value).filter((value) => !isPlace(value));
    if (
      /^torch\.\w+_window$/.test(file.dotted(call.func) ?? "") &&
      fn?.kind === "FunctionDef" &&
      fn.parent?.kind === "Module" &&
      sizes.length > 0 &&
      !sizes.every((value) => isSetting(value, facts)) &&
      sizes.every((value) => isTold(value, facts)) &&
      isUsedOnGiven(call, facts) &&
      !/cache|\bglobal\b/i.test(file.codeOf(fn)) &&
      facts.everyStep(call)
    )
      yield {
        at: call,
        message:
          "The window is computed in every step, and is the same unless its settings change; build it once for each of these, and keep it",
      };
  }
}

/** `alibi(self.heads, self.max_len, x.device)`: a function of this file that makes a table of what it is given. */
function* built(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const makers = tableMakers(file);
  const waving = waveMakers(facts);
  const imported = file.calls.matching(TABLE_MAKERS);
  if (makers.size === 0 && waving.size === 0 && imported.length === 0) return;
  const own = new Map([...makers, ...waving].map((one) => [file.qualified(one), one]));
  yield* handedOut(own, imported, facts);
  const calls = new Set([...file.callsNamed(...[...own.values()].map(({ name }) => name)), ...imported]);
  for (const call of calls) {
    const cls = classOf(call);
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || fn.name === "__init__") continue;
    const name = selfAttribute(call.func) === null ? file.dotted(call.func) : callTarget(call, file);
    const maker = own.get(name ?? "") ?? namedMaker(call, name, imported, file);
    // What is no forward may count a batch; a maker of this file is seen to make a table of numbers.
    if (!(cls && (isForward(cls, fn, facts) || isLossOf(cls))) && !(maker && isSchedule(maker, file)))
      continue;
    const elsewhere = name !== null && !name.startsWith("torch.") && !name.startsWith(`${file.module}.`);
    if (!maker && !(imported.includes(call) && elsewhere)) continue;
    const given = call.args.map(({ value }) => value).filter((value) => !isPlace(value));
    if (given.length === 0) {
      if (maker && isOfConstants(maker) && facts.everyStep(call))
        yield { at: call, message: ofMaker(call, file) };
      continue;
    }
    if (!given.every((value) => isSetting(value, facts))) {
      if (
        cls &&
        (maker
          ? (waving.has(maker) || imported.includes(call)) && given.every((value) => isCount(value, facts))
          : // One that is not seen may grow with the length of the input.
            given.every((value) => isWidth(value, facts))) &&
        isForThisInput(call, fn) &&
        facts.everyStep(call)
      )
        yield { at: call, message: OF_POSITIONS };
      continue;
    }
    // Few numbers cost nothing.
    if (!given.some((value) => reads(value, facts)) || !facts.everyStep(call)) continue;
    yield { at: call, message: ofMaker(call, file) };
  }
}

function ofMaker({ func }: Call, file: PythonFile): string {
  return `\`${file.textOf(func)}\` builds the same table in every forward from settings that never change; build it once, as a buffer with \`persistent=False\``;
}

/**
 * `cos, sin = self.rope_tables(device=x.device)` in a forward, of a method that asks for settings alone and has a function make
 * the table of them, whatever it works out in between.
 */
function* handedOut(
  makers: ReadonlyMap<string, FunctionDef>,
  imported: readonly Call[],
  facts: Facts,
): Generator<Finding> {
  const { file } = facts;
  const handing = handingMethods(makers, imported, facts);
  for (const call of handing.size > 0
    ? file.callsNamed(...new Set([...handing.values()].map(({ name }) => name)))
    : []) {
    const cls = classOf(call);
    const fn = functionOf(call);
    if (!cls || fn?.kind !== "FunctionDef" || fn.name === "__init__" || !isForward(cls, fn, facts)) continue;
    const method = selfAttribute(call.func) === null ? undefined : handing.get(callTarget(call, file) ?? "");
    if (!method || handing.has(file.qualified(fn)) || isForOwn(call, fn, file)) continue;
    if (!call.args.every(({ value }) => isPlace(value) || isSetting(value, facts))) continue;
    if (facts.everyStep(call))
      yield {
        at: call,
        message: `\`${file.textOf(call.func)}\` has the same table built in every forward from settings that never change; build it once, as a buffer with \`persistent=False\``,
      };
  }
}

/** Kept on self, or asked for by what self has: `if self.cos is None: self.cos, self.sin = self.tables()`. */
function isForOwn(call: Call, fn: FunctionDef, file: PythonFile): boolean {
  for (let at = call.parent; at && at !== fn; at = at.parent) {
    if ((at.kind === "If" || at.kind === "IfExp") && !isOwnFlag(at) && /\bself\b/.test(file.textOf(at.test)))
      return true;
    if (at.kind === "Assign" && at.targets.some((one) => namesIn(one).some(({ id }) => id === "self")))
      return true;
    // `self.register_buffer("cos", self.tables())`, `self.cache.append(…)`
    if (at.kind === "Call" && KEEPS.test(lastWord(at.func))) return true;
  }
  return false;
}

const KEEPS = /^(?:register_buffer|append|setdefault|setattr|copy_|update)$/;

/** `if self.use_rope:` is the same in every forward. */
function isOwnFlag(at: Node): boolean {
  const own = at.kind === "If" ? selfAttribute(at.test) : null;
  return own !== null && /^use_|_enabled$/.test(own);
}

/** Neither for an input that is longer than the table at hand, nor kept for the next one. */
function isForThisInput(call: Call, fn: FunctionDef): boolean {
  for (let at = call.parent; at && at !== fn; at = at.parent) {
    if ((at.kind === "If" && !isOwnFlag(at)) || at.kind === "IfExp") return false;
    if (at.kind === "Assign") return !at.targets.some((one) => namesIn(one).some(({ id }) => id === "self"));
    if (at.kind === "Call" && at.func.kind === "Attribute" && at.func.attr === "register_buffer")
      return false;
  }
  return true;
}

const OF_POSITIONS =
  "The table depends on nothing but positions, and every forward computes it again; build it once for the longest input, as a buffer with `persistent=False`";

/** Sines and cosines of positions alone: the same up to the length of the input, which a table made once covers. */
function* waves(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const seen = new Set<unknown>();
  for (const call of file.callsNamed("sin", "cos", "polar")) {
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || fn.name === "__init__" || seen.has(fn)) continue;
    const name = file.dotted(call.func) ?? "";
    const of = /^torch\.(?:sin|cos|polar)$/.test(name)
      ? positional(call, name === "torch.polar" ? 1 : 0)
      : file.dotted(call.func) === null && call.func.kind === "Attribute"
        ? call.func.value
        : null;
    if (!of || !isPartOfForward(fn, facts) || !isPositions(of, facts) || !facts.everyStep(call)) continue;
    seen.add(fn);
    yield {
      at: call,
      message: OF_POSITIONS,
    };
  }
}

/** `positions[None, :] - positions[:, None]`: as large as the attention it is for, and the same every time. */
function* distances(facts: Facts): Generator<Finding> {
  const { file } = facts;
  if (file.callsNamed("arange").length === 0) return;
  const spread = (expr: Expr): boolean => {
    const value = expr.kind === "Name" ? file.scopes.onlyValue(expr) : expr;
    if (value?.kind === "Subscript") return /\bNone\b/.test(file.textOf(value.index));
    return value?.kind === "Call" && value.func.kind === "Attribute" && value.func.attr === "unsqueeze";
  };
  for (const difference of file.all("Binary")) {
    const fn = difference.op === "-" ? functionOf(difference) : null;
    if (
      fn?.kind !== "FunctionDef" ||
      !isPartOfForward(fn, facts) ||
      ![difference.left, difference.right].every((side) => spread(side) && isPositions(side, facts)) ||
      !facts.everyStep(difference)
    )
      continue;
    yield {
      at: difference,
      message:
        "The distances between positions are the same in every forward up to its length; build them once for the longest input, as a buffer with `persistent=False`",
    };
  }
}

/** `torch.meshgrid(torch.arange(h), torch.arange(w))`: the same for every input of that size. */
function* grids(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("meshgrid")) {
    const fn = functionOf(call);
    if (facts.file.dotted(call.func) !== "torch.meshgrid" || fn?.kind !== "FunctionDef") continue;
    const axes = call.args.flatMap(({ name, value }) => (name !== null ? [] : axesOf(value, facts)));
    if (
      !isPartOfForward(fn, facts) ||
      axes.length < 2 ||
      !axes.every((axis) => isPositions(axis, facts)) ||
      !facts.everyStep(call)
    )
      continue;
    yield {
      at: call,
      message:
        "The grid is the same in every forward on inputs of one size; build it once, as a buffer with `persistent=False`",
    };
  }
}

/** Of a list, its items; `[torch.arange(n) for n in self.size]` makes several of one kind. */
function axesOf(value: Expr, facts: Facts): readonly Expr[] {
  if (value.kind === "List" || value.kind === "Tuple") return value.items;
  const made = value.kind === "Name" ? facts.file.scopes.onlyValue(value) : value;
  return made?.kind === "Comp" && made.value === null ? [made.element, made.element] : [value];
}

/** `adj = adj + torch.eye(n)` in a layer that is given the graph: an edge from each node to itself, the same in every step. */
function* ownEdges(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("eye")) {
    const fn = functionOf(call);
    const cls = classOf(call);
    if (file.dotted(call.func) !== "torch.eye" || !fn || !cls || !isForward(cls, fn, facts)) continue;
    if (isAddedToGraph(call, file) && facts.everyStep(call))
      yield {
        at: call,
        message:
          "An identity as large as the graph is built and added to it in every forward; add it once, where the graph is read",
      };
  }
}

/** Added as it is, moved, or by a name, to a graph that the function is given. */
function isAddedToGraph(eye: Expr, file: PythonFile, depth = 0): boolean {
  const { parent } = eye;
  if (depth > 4) return false;
  if (parent?.kind === "Attribute" && parent.parent?.kind === "Call" && parent.parent.func === parent)
    return (
      /^(?:to|cuda|type_as|unsqueeze|expand|expand_as|float)$/.test(parent.attr) &&
      isAddedToGraph(parent.parent, file, depth + 1)
    );
  if (parent?.kind === "Assign") {
    const [target] = parent.targets;
    const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    return named !== null && file.scopes.uses(named).some((use) => isAddedToGraph(use, file, depth + 1));
  }
  if (parent?.kind === "AugAssign") return parent.op === "+" && isGivenGraph(parent.target, file);
  return (
    parent?.kind === "Binary" &&
    parent.op === "+" &&
    isGivenGraph(parent.left === eye ? parent.right : parent.left, file)
  );
}

function isGivenGraph(expr: Expr, file: PythonFile): boolean {
  return (
    expr.kind === "Name" &&
    /^(?:A|adj|adjacency|graph|laplacian)(?:_|$)/i.test(expr.id) &&
    // What is added to in place is its own value besides.
    (file.scopes.lookup(expr)?.definitions.some(({ how }) => how === "param") ?? false)
  );
}

const FILTERS =
  /fbanks$|^create_fb_matrix$|^mel$|^hadamard$|^dft$|^mel_filter_bank$|^(?:Mel|Inverse)?(?:MelSpectrogram|Spectrogram|MelScale|MFCC|LFCC|Resample)$/;

/** Filter banks and windows of a library, from settings alone. */
function* filters(facts: Facts): Generator<Finding> {
  for (const call of facts.file.calls.matching(FILTERS)) {
    const name = facts.file.dotted(call.func) ?? "";
    if (
      !/(?:melscale_fbanks|create_fb_matrix|linear_fbanks|filters\.mel|mel_filter_bank)$|^scipy\.linalg\.(?:hadamard|dft)$|^torchaudio\.transforms\.[A-Z]\w+$/.test(
        name,
      ) ||
      !(facts.everyStep(call) || isOfLoss(call, facts))
    )
      continue;
    const values = call.args
      .filter((arg) => arg.name !== "device" && arg.name !== "dtype")
      .map((arg) => arg.value);
    const cls = classOf(call);
    const fn = functionOf(call);
    if (cls && fn && isForward(cls, fn, facts) && values.every((value) => isFixed(value, facts)))
      yield {
        at: call,
        severity: "warning",
        message:
          "The same filter bank is computed on the host in every forward from settings that never change; build it once, as a buffer with `persistent=False`",
      };
    else if (
      values.every((value) => isTold(value, facts)) &&
      (facts.stepLoop(call) !== null || isUsedOnGiven(call, facts))
    )
      yield {
        at: call,
        severity: "note",
        message:
          "The filter bank is computed on the host in every step, and is the same unless its settings change; build it once for each of these, and keep it",
      };
  }
}

/** In `def mel_loss(ours, theirs)`, which the file calls: through whatever hands it on, a loss is for every step. */
function isOfLoss(call: Call, { file }: Facts): boolean {
  const fn = functionOf(call);
  return (
    fn?.kind === "FunctionDef" &&
    fn.parent?.kind === "Module" &&
    /(?:^|_)loss(?:_|$)/.test(fn.name) &&
    callsOf(fn, file).some((site) => functionOf(site) !== null)
  );
}
