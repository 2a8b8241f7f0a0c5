import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { attributesOf, isOnlyMadeBy, methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { loaderMakers } from "../facts/loader-makers.ts";
import { isOccasional, likelyLoader, repeatsTraining } from "../facts/likely-data.ts";
import { isDataLoader } from "../facts/loaders.ts";
import { callTarget } from "../facts/summary.ts";
import { hasWorkers, isForStep } from "../facts/taken-batches.ts";
import { nextOf } from "../facts/next-batches.ts";
import { last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

const MAKES_LOADER = /^(?:get|make|build|create|construct|prepare|setup|init)_(?:\w*loader|(?:\w+_)?dl)$/;

/** Heirs of torch's own: of graphs, and the one that can be stopped and taken up again. */
const HEIRS =
  /^(?:torch_geometric\.loader\.(?:\w+\.)*(?!Prefetch|Cached)\w*Loader|torchdata\.stateful_dataloader\.(?:\w+\.)*StatefulDataLoader)$/;

const isMadeLoader = (name: string | null): boolean => isDataLoader(name) || HEIRS.test(name ?? "");

const MAKES_DATA = /^_*(?:get|make|build|create|load|prepare)_\w*data\w*$/;

export const rule: Rule = {
  meta: {
    code: "PLM076",
    name: "loader-rebuilt-every-step",
    summary: "A DataLoader, or its iterator, is made anew on every step or epoch",
    severity: "warning",
    fix: "none",
    patterns: [76],
    inTraining: true,
  },
  *check(facts) {
    const { file } = facts;
    if (facts.guesses) return yield* guessed(facts);
    const makers = file.once(loaderMakers);
    const words = [...makers.keys()].map(last);
    yield* begun(facts);
    yield* readAnew(facts);
    yield* madeElsewhere(facts);
    for (const call of file.calls.given(["reload_dataloaders_every_n_epochs"])) {
      const every = keyword(call, "reload_dataloaders_every_n_epochs")!;
      if (every.value.kind === "Num" && every.value.text === "1")
        yield { at: every, severity: "note", message: EPOCH };
    }
    // By its name, where another file makes it.
    for (const call of file.calls.matching(MAKES_LOADER)) {
      const name = file.dotted(call.func) ?? "";
      if (name !== "" && !name.startsWith(`${file.module}.`) && isEveryEpoch(call, facts))
        yield { at: call, severity: "note", message: EPOCH };
    }
    // `train_loader, valid_loader = get_data(args)`
    for (const call of file.calls.matching(MAKES_DATA))
      if (
        isHandedLoaders(call, file) &&
        !makers.has(callTarget(call, file) ?? "") &&
        isEveryEpoch(call, facts)
      )
        yield { at: call, severity: "note", message: EPOCH };
    const heirs = file.calls.matching(/Loader$/).filter((call) => HEIRS.test(file.dotted(call.func) ?? ""));
    for (const call of new Set([...file.callsNamed("next", "__next__", "DataLoader", ...words), ...heirs])) {
      const name = file.dotted(call.func) ?? "";
      const asked = call.func.kind === "Attribute" && call.func.attr === "__next__" ? call.func.value : null;
      if (name === "builtins.next" || asked) {
        const inner = asked ?? positional(call, 0);
        const made = inner?.kind === "Call" && begins(inner, file) ? positional(inner, 0) : null;
        if (!made || !isLoader(made, facts)) continue;
        // A function may be called for each task, with data of its own.
        if (facts.everyStep(call))
          yield {
            at: call,
            ...(isOfGiven(made, file) || !hasWorkers(facts) ? { severity: "note" as const } : {}),
            message: STEP,
          };
        else if (isForStep(call, facts) || isYieldedAnew(call, made, facts) || isOfLambda(call, facts))
          yield { at: call, severity: "note", message: STEP };
        else if (made.kind !== "Call" && (isEveryEpoch(call, facts) || isOneEpoch(call, facts)))
          yield { at: call, severity: "note", message: LOOK };
      } else if (isMadeLoader(name)) {
        const hot = facts.everyStep(call);
        if (hot?.why === "in the training loop")
          yield {
            at: call,
            message: "A new DataLoader on every step: its workers are started and stopped each time",
          };
        else if (isEveryEpoch(call, facts) || isOneEpoch(call, facts) || isHandedOnAgain(call, facts))
          yield { at: call, severity: "note", message: EPOCH };
      } else {
        const maker = makers.get(callTarget(call, file) ?? name);
        if (maker && isEveryEpoch(call, facts, maker.made))
          yield { at: call, severity: "note", message: EPOCH };
      }
    }
  },
};

/** Whatever is called a loader, begun or made in each turn of what trains, unless the turn has data of its own. */
function* guessed(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("next", "__next__", "iter")) {
    const begun =
      lastWord(call.func) === "iter" ? (isUsedUpInTurn(call, file) ? call : null) : begunIn(call, file);
    const over = begun && positional(begun, 0);
    if (over && likelyLoader(over, file) && isTurn(call, facts)) yield { at: call, message: STEP };
    const of = lastWord(call.func) === "iter" ? positional(call, 0) : null;
    if (of && likelyLoader(of, file) && isAskedInTurns(call, facts)) yield { at: call, message: STEP };
  }
  for (const loop of file.all("For"))
    if (loop.body.at(-1)?.kind === "Break" && likelyLoader(loop.iter, file) && isTurn(loop, facts))
      yield { at: loop.iter, message: STEP };
  for (const call of file.calls.matching(MAKES))
    if (isMadeAgain(call, facts)) yield { at: call, message: EPOCH };
}

const MAKES =
  /DataLoader$|^(?:get|make|build|create|construct|prepare|setup|init|load)_(?:\w*loaders?|(?:\w+_)?dls?)(?:_\w+)?$/;

/** `iter(loader)` of `next(iter(loader))` and `iter(loader).next()`. */
function begunIn(call: Call, file: PythonFile): Call | null {
  const from =
    nextOf(call, file) ??
    (call.func.kind === "Attribute" && call.func.attr === "__next__" ? call.func.value : null);
  return from?.kind === "Call" && /^(?:iter|cycle|infinite\w*|endless\w*)$/.test(lastWord(from.func))
    ? from
    : null;
}

/** `it = iter(loader)`, of which one is taken in the same turn. */
function isUsedUpInTurn(call: Call, file: PythonFile): boolean {
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = made ? file.scopes.uses(made) : [];
  const [loop] = loopsAround(call);
  return (
    uses.length > 0 &&
    uses.every((use) => {
      const asked = use.parent?.kind === "Arg" ? use.parent.parent : null;
      return (
        asked?.kind === "Call" &&
        lastWord(asked.func) === "next" &&
        loopsAround(use)[0] === loop &&
        use.start > call.end &&
        !ancestors(use).some(({ kind }) => kind === "Comp" || kind === "Return")
      );
    })
  );
}

/** `return iter(self.loader)` of a property that turns of a loop hand on, `agent.update(self.batches)`: begun anew each time. */
function isAskedInTurns({ parent }: Call, { file }: Facts): boolean {
  const fn = parent?.kind === "Return" ? functionOf(parent) : null;
  const cls = fn && classOf(fn);
  if (fn?.kind !== "FunctionDef" || !cls || fn.body.at(-1) !== parent) return false;
  if (LOOKS.test(fn.name) || !fn.decorators.some((one) => lastWord(one) === "property")) return false;
  return file
    .all("Attribute")
    .some(
      (use) =>
        selfAttribute(use) === fn.name &&
        classOf(use) === cls &&
        use.parent?.kind === "Arg" &&
        loopsAround(use).length > 0 &&
        !LOOKS.test((functionOf(use) as FunctionDef | null)?.name ?? ""),
    );
}

const LOOKS =
  /eval|valid|(?:^|_)val(?:_|$)|test|infer|predict|visual|sample_images|plot|__init__|setup|find|bench/i;

/** In a turn of a loop that trains, or in what is asked for a batch by its name. */
function isTurn(node: Node, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(node);
  const name = fn?.kind === "FunctionDef" ? fn.name : "";
  const [loop] = loopsAround(node);
  if (LOOKS.test(name) || isOccasional(node, loop ?? fn, file)) return false;
  if (loop) return facts.frequency(node, loop) === "every" && repeatsTraining(loop, file);
  return (
    facts.everyStep(node) !== null ||
    (fn?.kind === "FunctionDef" && isAskedByNext(fn)) ||
    /^_*(?:get|next|fetch|draw|load|sample)_*\w*(?:batch|next)\w*$|^__next__$/.test(name)
  );
}

/** `self.fetch_refs()` in the `__next__` of its class: once for each batch that is asked for. */
function isAskedByNext(fn: FunctionDef): boolean {
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent : null;
  const next = cls ? methodsOf(cls).find(({ name }) => name === "__next__") : undefined;
  let asked = false;
  if (next)
    walk(next, (node) => {
      asked ||= node.kind === "Call" && selfAttribute(node.func) === fn.name;
      return !asked;
    });
  return asked;
}

/** A loader made in each epoch, of data that are the same in all of them. */
function isMadeAgain(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const [loop] = loopsAround(call);
  if ((fn?.kind === "FunctionDef" && LOOKS.test(fn.name)) || isOccasional(call, loop ?? fn, file))
    return false;
  if (call.args.some(({ value }) => isOfTurn(value, loop ?? null, file))) return false;
  // `DataLoader(rows, num_workers=0)`: there is no worker to start.
  const workers = keyword(call, "num_workers")?.value;
  if (workers?.kind === "Num" && Number(workers.text) === 0) return false;
  if (loop) return facts.frequency(call, loop) === "every" && repeatsTraining(loop, file);
  return (
    fn?.kind === "FunctionDef" &&
    fn.params.some((param) => /^(?:cur\w*_)?epoch(?:_\w+)?$/.test(param.name)) &&
    TRAINS.test(file.codeOf(fn))
  );
}

/** What is put into the loader is collected, drawn or cut for the turn. */
function isOfTurn(value: Expr, loop: Loop | null, file: PythonFile, depth = 0): boolean {
  return (
    DRAWN.test(file.textOf(value)) ||
    names(value).some((name) => {
      if (loop?.kind === "For" && names(loop.target).some(({ id }) => id === name.id)) return true;
      const made = depth < 2 ? file.scopes.onlyValue(name) : null;
      return (
        made !== null && (loop === null || contains(loop, made)) && isOfTurn(made, loop, file, depth + 1)
      );
    })
  );
}

const DRAWN =
  /rollout|buffer|memory|replay|collect|pseudo|select|subset|generat|experience|trajector|episode|curriculum|epoch|pool/i;

/** `for batch in self.loader:` in each epoch, of a property that makes it. */
function* readAnew(facts: Facts): Generator<Finding> {
  const { file } = facts;
  const properties = new Map(
    [...file.once(loaderMakers)].filter(([, { fn }]) =>
      fn.decorators.some((one) => file.dotted(one) === "builtins.property"),
    ),
  );
  for (const read of properties.size > 0 ? file.all("Attribute") : []) {
    const own = selfAttribute(read);
    const cls = own === null ? null : classOf(read);
    const maker = cls ? properties.get(`${file.qualified(cls)}.${own}`) : undefined;
    if (maker && isEveryEpoch(read, facts, maker.made)) yield { at: read, severity: "note", message: EPOCH };
  }
}

/** `loaders = build(args)` of another file, in each epoch. */
function* madeElsewhere(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of facts.callsTo("loads")) {
    const isOwn = file.once(loaderMakers).has(callTarget(call, file) ?? "");
    if (isOwn || !facts.callee(call)?.loads || isByName(call, file)) continue;
    if (isEveryEpoch(call, facts)) yield { at: call, severity: "note", message: EPOCH };
  }
}

/** What is told of by what it is called. */
function isByName(call: Call, file: PythonFile): boolean {
  const word = lastWord(call.func);
  return MAKES_LOADER.test(word) || (MAKES_DATA.test(word) && isHandedLoaders(call, file));
}

/** `draw = lambda: next(iter(loader))[0]`, which each step asks for a batch. */
function isOfLambda(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  const target = fn?.kind === "Lambda" && fn.parent?.kind === "Assign" ? fn.parent.targets[0] : null;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (
    made !== null &&
    file.scopes
      .uses(made)
      .some(
        (use) =>
          use.parent?.kind === "Call" && use.parent.func === use && facts.everyStep(use.parent) !== null,
      )
  );
}

/**
 * `while True: yield next(iter(loader))`, of a loader that the turns share, and `def __next__(self): return next(iter(self.loader))`:
 * whoever is handed the batches gets each of them from an iterator of its own.
 */
function isYieldedAnew(begun: Node, loader: Expr, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(begun);
  const [loop] = loopsAround(begun);
  if (fn?.kind !== "FunctionDef") return false;
  if (!loop)
    return fn.name === "__next__" && selfAttribute(loader) !== null && facts.frequency(begun, fn) === "every";
  return (
    facts.frequency(begun, loop) === "every" &&
    file
      .all("Yield")
      .some((one) => !one.from && functionOf(one) === fn && contains(loop, one) && one.end >= begun.start) &&
    names(loader).every((name) =>
      (file.scopes.lookup(name)?.definitions ?? []).every(({ node }) => !contains(loop, node)),
    )
  );
}

const TRAINS = /\b(?:step|backward)\(/;

const STEP =
  "A new iterator on every step: its workers are started, the first batches loaded, one is taken and the rest thrown away";
const LOOK =
  "A new iterator in every epoch for one batch: its workers are started, the first batches loaded and the rest thrown away";
const EPOCH =
  "A new DataLoader in every epoch starts its workers again; make it once, with `persistent_workers=True`";

/** `train_loader`, `dataloader_train`, `valid_dl` */
const CALLED = /loader(?:_\w+)?$|(?:^|_)dl$/i;

/** Called so by all that take what it returns. */
function isHandedLoaders(call: Call, file: PythonFile): boolean {
  const [target] = call.parent?.kind === "Assign" && call.parent.value === call ? call.parent.targets : [];
  const taken = target?.kind === "Tuple" ? target.items : target ? [target] : [];
  return (
    (call.func.kind === "Name" || selfAttribute(call.func) !== null) &&
    taken.length > 0 &&
    taken.every((one) => /loaders?$|_dl$/.test(file.textOf(one)))
  );
}

/** `DataLoader(data, len(data))` of a parameter. */
function isOfGiven(made: Expr, file: PythonFile): boolean {
  const data = made.kind === "Call" ? positional(made, 0) : null;
  return data?.kind === "Name" && file.scopes.reaching(data).every(({ how }) => how === "param");
}

/** `iter(loader)`, `cycle(loader)`, `endless(loader)` of a generator of this file. */
function begins(call: Call, file: PythonFile): boolean {
  const name = file.dotted(call.func) ?? "";
  return (
    /^(?:builtins\.iter|itertools\.cycle)$/.test(name) ||
    file.all("Yield").some((one) => {
      const fn = functionOf(one);
      return fn?.kind === "FunctionDef" && file.qualified(fn) === name;
    })
  );
}

/** `it = iter(loader)`, or `for batch in loader: break`, in the step itself. */
function* begun(facts: Facts): Generator<Finding> {
  const { file } = facts;
  for (const call of file.callsNamed("iter")) {
    const over = positional(call, 0);
    if (file.dotted(call.func) !== "builtins.iter" || !over || call.parent?.kind !== "Assign") continue;
    const [target] = call.parent.targets;
    const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
    const loop = facts.stepLoop(call);
    if (!made || !isLoader(over, facts)) continue;
    const uses = file.scopes.uses(made);
    if (!facts.everyStep(call)) {
      if (isTakenInTurn(uses, call, file) && isYieldedAnew(call, over, facts))
        yield { at: call, severity: "note", message: STEP };
      continue;
    }
    // Gone through to its end in there, it is an epoch of its own.
    if (loop && uses.every((use) => loopsAround(use)[0] === loop))
      yield { at: call, ...(hasWorkers(facts) ? {} : { severity: "note" as const }), message: STEP };
    // In a function that the step calls, and that takes one from it and lets it go.
    if (
      !loop &&
      uses.length > 0 &&
      loopsAround(call).length === 0 &&
      uses.every((use) => isTakenOnce(use, call, file))
    )
      yield { at: call, ...(hasWorkers(facts) ? {} : { severity: "note" as const }), message: STEP };
  }
  for (const loop of file.all("For")) {
    const last = loop.body[loop.body.length - 1];
    if (last?.kind !== "Break" || !isLoader(loop.iter, facts)) continue;
    if (facts.everyStep(loop) && facts.stepLoop(loop))
      yield { at: loop.iter, ...(hasWorkers(facts) ? {} : { severity: "note" as const }), message: STEP };
    else if (isYieldedAnew(loop, loop.iter, facts)) yield { at: loop.iter, severity: "note", message: STEP };
  }
}

/** Only ever asked by `next(it)`, in the turn that began it. */
function isTakenInTurn(uses: readonly Expr[], begun: Call, file: PythonFile): boolean {
  return (
    uses.length > 0 &&
    uses.every((use) => {
      const asked = use.parent?.kind === "Arg" ? use.parent.parent : null;
      return (
        asked?.kind === "Call" &&
        file.dotted(asked.func) === "builtins.next" &&
        loopsAround(use)[0] === loopsAround(begun)[0]
      );
    })
  );
}

/** `next(it)`, outside of any loop of the function that began it. */
function isTakenOnce(use: Expr, begun: Call, file: PythonFile): boolean {
  const asked = use.parent?.kind === "Arg" ? use.parent.parent : null;
  return (
    asked?.kind === "Call" &&
    file.dotted(asked.func) === "builtins.next" &&
    functionOf(use) === functionOf(begun) &&
    loopsAround(use).length === 0 &&
    !ancestors(use).some(({ kind }) => kind === "Comp")
  );
}

/** In a loop over epochs: over folds or stages each has its own data. */
function isEveryEpoch(call: Expr, facts: Facts, made: readonly Call[] | null = null): boolean {
  const { file } = facts;
  const epoch = loopsAround(call).find((loop) =>
    [...facts.stepLoops].some((inner) => inner !== loop && contains(loop, inner)),
  );
  const inner = [...facts.stepLoops].find((loop) => loop.kind === "For" && contains(loop.iter, call));
  const around =
    epoch ??
    (inner
      ? loopsAround(inner)[0]
      : loopsAround(call)
          .slice(0, 1)
          .find((loop) => isTrainedIn(loop, facts)));
  if (!around || facts.frequency(call, around) !== "every") return false;
  if (around.kind === "While") return true;
  const counts =
    /epoch/i.test(file.textOf(around.target)) ||
    (isRange(around.iter, file) && !/fold|stage|split/i.test(file.codeOf(around)));
  // Its data is the turn's own where the target of the loop is part of it.
  if (!counts || call.kind !== "Call") return counts;
  return made
    ? !made.some((one) => isMadeOf(one, call, around.target, facts))
    : !mentions(call, around.target);
}

/** `range(n)`, `trange(n)`, `tqdm(range(n))` */
function isRange(iter: Expr, file: PythonFile): boolean {
  if (iter.kind !== "Call") return false;
  const name = file.dotted(iter.func) ?? "";
  if (name === "builtins.range" || /^tqdm\.(?:\w+\.)*trange$/.test(name)) return true;
  const shown = /^tqdm\.(?:\w+\.)*tqdm$/.test(name) ? positional(iter, 0) : null;
  return shown !== null && isRange(shown, file);
}

/** `while True: loader = DataLoader(…); yield from loader`, of data that is the same in every turn. */
function isHandedOnAgain(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const [loop] = loopsAround(call);
  const fn = functionOf(call);
  if (!loop || fn?.kind !== "FunctionDef" || facts.frequency(call, loop) !== "every") return false;
  const yields = file.all("Yield").filter((one) => contains(loop, one) && functionOf(one) === fn);
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const over = made ? file.scopes.uses(made) : [call];
  return (
    yields.some(({ value, parent }) => {
      if (value !== null && over.includes(value as never)) return true;
      // `for batch in loader: yield batch`
      const inner = parent ? loopsAround(parent)[0] : undefined;
      return inner?.kind === "For" && inner !== loop && over.includes(inner.iter as never);
    }) &&
    call.args.every(({ value }) =>
      names(value).every((name) =>
        (file.scopes.lookup(name)?.definitions ?? []).every(({ node }) => !contains(loop, node)),
      ),
    ) &&
    !file
      .all("Assign")
      .some(
        (one) =>
          contains(loop, one) &&
          one.targets.some(
            (set) =>
              set.kind === "Attribute" &&
              call.args.some((arg) => file.textOf(arg).includes(file.textOf(set))),
          ),
      )
  );
}

/** `for epoch in range(n): train(…)`, and the steps are in there. */
function isTrainedIn(loop: Loop, facts: Facts): boolean {
  return (
    /epoch/i.test(headOf(loop, facts)) &&
    facts.file
      .all("Call")
      .some((call) => contains(loop, call) && facts.callee(call)?.reachesBackward === true)
  );
}

/** Whether what a maker puts into its loader depends on the turn it is called in: to shuffle by it alone does not. */
function isMadeOf(made: Call, call: Call, target: Expr, facts: Facts): boolean {
  const fn = functionOf(made);
  if (fn?.kind !== "FunctionDef") return true;
  const { params } = fn;
  const shift = fn.parent?.kind === "ClassDef" ? 1 : 0;
  const given = new Set(
    call.args.flatMap((arg, at) =>
      names(arg.value).some((name) => names(target).some(({ id }) => id === name.id))
        ? [arg.name ?? params[at + shift]?.name ?? ""]
        : [],
    ),
  );
  return (
    given.size > 0 &&
    made.args.some((arg) =>
      names(arg.value).some((name) =>
        facts.file.scopes
          .reaching(name)
          .some(({ how, node }) => (how === "param" ? given.has(name.id) : functionOf(node) === fn)),
      ),
    )
  );
}

/** In a function that goes through the data once, and is called again for each epoch. */
function isOneEpoch(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const { repeated } = facts.functionFacts(call);
  if (
    fn?.kind !== "FunctionDef" ||
    !repeated ||
    loopsAround(call).length > 0 ||
    facts.frequency(call, fn) !== "every"
  )
    return false;
  const steps = [...facts.stepLoops].filter((loop) => functionOf(loop) === fn);
  // What loops over epochs, or makes its own optimizer, is a training of its own each time.
  return (
    steps.length > 0 &&
    steps.every((loop) => {
      // Within one over the data, it goes through the parts of a batch.
      const [outer = loop] = loopsAround(loop).slice(-1);
      const once = outer === loop || (outer.kind === "For" && !/\brange\(/.test(headOf(outer, facts)));
      return once && !/epoch/i.test(headOf(outer, facts));
    }) &&
    !/\boptim\.|\bAdamW?\(|\bSGD\(|fold|seed|task/i.test(facts.file.codeOf(fn))
  );
}

function headOf(loop: Loop, { file }: Facts): string {
  return loop.kind === "For"
    ? `${file.textOf(loop.target)} ${file.textOf(loop.iter)}`
    : file.textOf(loop.test);
}

/** Also what a lambda in it reads: `collate_fn=lambda batch: cut(batch, epoch)` is another one in each turn. */
function names(expr: Expr): Name[] {
  const found: Name[] = [];
  walk(expr, (node) => {
    if (node.kind === "Name") found.push(node);
  });
  return found;
}

function mentions(call: Call, target: Expr): boolean {
  const ids = new Set(names(target).map(({ id }) => id));
  return call.args.some((arg) => names(arg.value).some(({ id }) => ids.has(id)));
}

/** `def __init__(self, train_data: DataLoader)`, which keeps it on self. */
function isGivenLoader(expr: Expr, file: PythonFile): boolean {
  const own = file.mentions(": DataLoader") ? selfAttribute(expr) : null;
  const cls = own === null ? null : classOf(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return (
    writes.length > 0 &&
    writes.every(
      ({ value }) =>
        value?.kind === "Name" && file.scopes.reaching(value).every((one) => saysLoader(one, file)),
    )
  );
}

function saysLoader({ node }: Definition, file: PythonFile): boolean {
  return node.kind === "Param" && node.annotation !== null && isDataLoader(file.dotted(node.annotation));
}

/** Taken out of what is called `loaders`, by its place or its key or all of them at once. */
function isOneOfLoaders({ how, value }: Definition): boolean {
  const from =
    how === "assign" && value?.kind === "Subscript" ? value.value : how === "unpack" ? value : null;
  return (
    (from?.kind === "Name" || from?.kind === "Attribute") &&
    /loaders(?:_dict)?$|loader_dict$/i.test(lastWord(from))
  );
}

function isLoader(expr: Expr, facts: Facts): boolean {
  if (expr.kind === "Call")
    return (
      isMadeLoader(facts.file.dotted(expr.func)) ||
      (expr.func.kind === "Attribute" && expr.func.attr.endsWith("loader")) ||
      facts.file.once(loaderMakers).has(callTarget(expr, facts.file) ?? "")
    );
  // `self.loaders["valid"]`
  if (expr.kind === "Subscript")
    return isLoader(expr.value, facts) || facts.file.textOf(expr.value).endsWith("loaders");
  if (expr.kind === "Attribute")
    return (
      CALLED.test(expr.attr) ||
      isOnlyMadeBy(expr, facts.file, (made) => isMadeLoader(facts.file.dotted(made.func))) ||
      isGivenLoader(expr, facts.file)
    );
  if (expr.kind !== "Name") return false;
  const definitions = facts.file.scopes.reaching(expr);
  return (
    definitions.length > 0 &&
    definitions.every(
      (one) =>
        (one.how === "param" && (CALLED.test(expr.id) || saysLoader(one, facts.file))) ||
        // `train_loader, valid_loader = get_data(args)`
        (CALLED.test(expr.id) &&
          one.value?.kind === "Call" &&
          /data|loader|(?:^|_)ds$|(?:^|\.)load_\w+$/i.test(facts.file.textOf(one.value.func)) &&
          (one.how === "unpack" || one.how === "assign")) ||
        // `model, loader = accelerator.prepare(model, loader)`: the same loader, wrapped.
        (CALLED.test(expr.id) &&
          one.value?.kind === "Call" &&
          one.value.func.kind === "Attribute" &&
          /^(?:prepare|setup_dataloaders|prepare_data_loader|skip_first_batches|initialize)$/.test(
            one.value.func.attr,
          )) ||
        // `batches = data_loader.load_data()`
        (one.how === "assign" &&
          one.value?.kind === "Call" &&
          one.value.func.kind === "Attribute" &&
          /^(?:load_data|get_loader)$/.test(one.value.func.attr) &&
          facts.file.textOf(one.value.func.value).endsWith("loader")) ||
        // `dataloader = data["train"].dataloader`
        (one.how === "assign" && one.value?.kind === "Attribute" && isLoader(one.value, facts)) ||
        // `train_loader = loaders[0]`, `train_loader, valid_loader = loaders`
        (CALLED.test(expr.id) && isOneOfLoaders(one)) ||
        (one.value !== null && one.value.kind === "Call" && isMadeLoader(facts.file.dotted(one.value.func))),
    )
  );
}
