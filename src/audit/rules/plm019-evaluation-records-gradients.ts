import { isFalse, isTrue, keyword, positional } from "../../python/file.ts";
import { ancestors, contains, functionOf, lastWord, statementOf, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, If, Node } from "../../python/tree.ts";
import { decorate } from "../edits.ts";
import { isAdapted } from "../facts/adapters.ts";
import { DIFFERENTIATES, MEASURES } from "../facts/evaluation-calls.ts";
import { isEngineStep } from "../facts/engine-hooks.ts";
import type { Facts } from "../facts/facts.ts";
import { handedOver, isLossOfOff, looksAfterSteps, looksInSteps } from "../facts/eval-blocks.ts";
import { lexicalGrad } from "../facts/gradmode.ts";
import { looksInHooks } from "../facts/hook-looks.ts";
import { inspection } from "../facts/inspections.ts";
import { judgedTurns } from "../facts/judging-turns.ts";
import { iteratedText } from "../facts/loaders.ts";
import { likelyLooked } from "../facts/likely-runs.ts";
import { looks, unrecorded } from "../facts/looks.ts";
import { isNetwork } from "../facts/networks.ts";
import { isTestAfterTraining, isTestOfTrained, testsOfOwn } from "../facts/own-tests.ts";
import { ownSwitches, ranAfterOwnSwitch } from "../facts/own-switches.ts";
import { thrownRuns } from "../facts/thrown-runs.ts";
import { loopsAround, optimizerSteps } from "../facts/training.ts";
import type { Loop } from "../facts/training.ts";
import { localName } from "../imports.ts";
import { callsOf } from "../facts/returns.ts";
import type { Finding, Rule } from "../rule.ts";
import { decoratorWithout, gradeWithout, isResultDifferentiated } from "../facts/without-gradients.ts";
import { innerOf, isPart, isPartOf, lossRun, ranByMethod, runIn } from "../facts/network-runs.ts";

export const rule: Rule = {
  meta: {
    code: "PLM019",
    name: "evaluation-records-gradients",
    summary: "A network in eval mode is run, or parameters are inspected, with gradients recorded for nobody",
    severity: "warning",
    fix: "safe",
    patterns: [19],
  },
  *check(facts) {
    // What torch had before no_grad: programs of that time ran their evaluation so.
    if (facts.file.calls.given(["volatile"]).some((call) => isTrue(keyword(call, "volatile")!.value))) return;
    const evaluates =
      facts.file.callsNamed("eval").length > 0 ||
      facts.file.callsNamed("train").some((call) => isFalse(positional(call, 0)));
    const seen = new Set<Node>();
    const switching = new Set(
      evaluates ? facts.file.callsNamed("eval", "train").flatMap((call) => functionOf(call) ?? []) : [],
    );
    const apart = new Set(facts.file.once(ownSwitches).flatMap((call) => functionOf(call) ?? []));
    for (const fn of facts.file.all("FunctionDef")) {
      const found =
        (switching.has(fn) || switching.has(functionOf(fn)!)
          ? (evaluation(fn, facts) ?? showing(fn, facts))
          : null) ??
        inspection(fn, facts) ??
        named(fn, facts) ??
        (evaluates ? called(fn, facts) : null) ??
        (apart.has(fn) ? switched(fn, facts) : null);
      if (!found || usesGradients(fn, facts) || isResultDifferentiated(fn, facts)) continue;
      seen.add(fn);
      const decorator = decoratorWithout(fn, facts);
      yield {
        at: found.at,
        message: found.message,
        ...(found.severity ? { severity: found.severity } : {}),
        ...(decorator && {
          fix: {
            grade: gradeWithout(fn, facts),
            title: "Decorate with torch.no_grad()",
            edits: decorate(fn, decorator, facts.file),
            ...(localName(facts.file, "torch") === null ? { imports: ["import torch"] } : {}),
          },
        }),
      };
    }
    if (facts.guesses)
      for (const run of testsOfOwn(facts)) {
        if (seen.has(functionOf(run)!)) continue;
        seen.add(functionOf(run)!);
        yield {
          at: run.func,
          message: `What \`${facts.file.textOf(run.func)}\` runs here is only looked at, yet it records a graph and saves its activations`,
        };
      }
    if (facts.guesses)
      for (const run of likelyLooked(facts))
        yield {
          at: run.func,
          message: `All that is wanted of \`${facts.file.textOf(run.func)}\` here are its numbers, yet the call records a graph and saves its activations`,
        };
    // The steps themselves may be taken elsewhere: `gan.train_d(images)`.
    if (evaluates && (facts.backwards.length > 0 || facts.stepLoops.size > 0)) yield* blocks(facts, seen);
    for (const run of thrownRuns(facts))
      if (!seen.has(functionOf(run)!))
        yield {
          at: run.func,
          severity: "note",
          message: `Nothing is kept of what \`${facts.file.textOf(run.func)}\` returns here, yet each call records a graph and keeps every activation until it ends`,
        };
    // A script of its own that measures what others have trained.
    if (facts.backwards.length === 0 && evaluates && !facts.file.once(isAdapted))
      for (const finding of loops(facts, evaluates))
        if (isOfScript(finding.at as Node, facts)) yield { ...finding, severity: "note" };
    if (facts.backwards.length > 0) {
      for (const finding of loops(facts, evaluates)) {
        const fn = functionOf(finding.at as Node);
        if (!fn || (!seen.has(fn) && facts.functionFacts(finding.at as Node).reachesBackward)) yield finding;
      }
      for (const { run, test } of judgedTurns(facts))
        yield {
          at: run.func,
          severity: "note",
          message: `\`${facts.file.textOf(run.func)}\` also runs where \`${facts.file.textOf(test)}\` does not hold and nothing is differentiated, yet each call there records a graph and saves its activations`,
        };
      if (evaluates) {
        for (const run of [...looksAfterSteps(facts), ...looksInSteps(facts)]) {
          const fn = functionOf(run);
          if (!fn || !seen.has(fn))
            yield {
              at: run.func,
              severity: "note",
              message: `\`${facts.file.textOf(run.func)}\` is in eval mode, yet the call records a graph and saves its activations`,
            };
        }
        for (const { call, network } of handedOver(facts))
          if (!isDifferentiated(call, facts))
            yield {
              at: call.func,
              severity: "note",
              message: `\`${network}\` is in eval mode, yet \`${facts.file.textOf(call.func)}\` has it record a graph and save its activations: elsewhere it is called under \`no_grad\``,
            };
      }
    }
    for (const run of looksInHooks(facts))
      yield {
        at: run.func,
        severity: "note",
        message: `What \`${facts.file.textOf(run.func)}\` makes in this hook is only looked at, yet the call records a graph and saves its activations`,
      };
    for (const { run, shown } of facts.backwards.length > 0 || facts.anyHot ? looks(facts) : []) {
      const fn = functionOf(run);
      if (fn && seen.has(fn)) continue;
      const network = facts.file.textOf(run.func);
      yield {
        at: run.func,
        severity: "note",
        message:
          shown === null
            ? `\`${network}\` records a graph and saves its activations here, only for \`.detach()\` to throw them away`
            : `\`${shown}\` is only looked at, yet \`${network}\` records a graph for it and saves its activations`,
      };
    }
  },
};

/** `model.eval()` and, after it, `model(...)` in a loop, in one function. */
function evaluation(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity?: "note" } | null {
  const modes = new Map<string, { eval: number; train: number }>();
  const calls: Call[] = [];
  // A function inside the one that switches: `model.eval(); run(loader)`.
  const around = functionOf(fn);
  const outer = around
    ? facts.file.callsNamed("eval", "train").filter((call) => functionOf(call) === around)
    : [];
  for (const { func, args } of outer)
    if (func.kind === "Attribute" && func.attr === "eval" && args.length === 0) {
      const text = facts.file.textOf(func.value);
      const trains = outer.some(
        (other) =>
          other.func.kind === "Attribute" &&
          other.func.attr === "train" &&
          facts.file.textOf(other.func.value) === text,
      );
      if (!trains) modes.set(text, { eval: fn.start, train: -1 });
    }
  walk(fn, (node) => {
    if (node !== fn && (node.kind === "FunctionDef" || node.kind === "ClassDef" || node.kind === "Lambda"))
      return false;
    if (node.kind === "Call") {
      calls.push(node);
      if (
        node.func.kind === "Attribute" &&
        (node.func.attr === "eval" || node.func.attr === "train") &&
        node.args.length <= 1
      ) {
        const text = facts.file.textOf(node.func.value);
        const entry = modes.get(text) ?? { eval: -1, train: -1 };
        const mode = isFalse(node.args[0]?.value ?? null) ? "eval" : node.func.attr;
        if (entry[mode] < 0 || mode === "train") entry[mode] = node.start;
        modes.set(text, entry);
      }
    }
    return true;
  });
  for (const call of calls) {
    const runs = call.func.kind === "Attribute" && /^forward$/.test(call.func.attr);
    const ran = modes.size > 0 && !runs ? (lossRun(call, facts) ?? ranByMethod(call, modes, facts)) : null;
    const net = ran ?? (runs && call.func.kind === "Attribute" ? call.func.value : call.func);
    // `self.eval()` of a module switches its parts, and `ranker.model.eval()` what `ranker(x)` runs.
    const inner = innerOf(facts.file.textOf(net), modes);
    const own =
      modes.get(facts.file.textOf(net)) ??
      (modes.has("self") && isPart(net, facts) ? modes.get("self") : modes.get(inner ?? ""));
    const helped = own || modes.size === 0 ? null : runIn(call, modes, facts);
    const mode = own ?? (helped && modes.get(facts.file.textOf(helped)));
    if (
      !mode ||
      mode.eval < 0 ||
      call.start < mode.eval ||
      (mode.train > mode.eval && call.start > mode.train)
    )
      continue;
    // Of a whole graph an epoch's validation is one call.
    const again = /^_*(?:val|valid|validate|validation|test|eval|evaluate)(?:_|$)/.test(fn.name);
    const single =
      loopsAround(call).length === 0 && !inComprehension(call) && !(around && isCalledAgain(fn, facts));
    if (
      single &&
      !(again && facts.functionFacts(call).repeated) &&
      !isTestOfTrained(fn, facts) &&
      !isTestAfterTraining(fn, facts) &&
      !isEngineStep(fn, facts)
    )
      continue;
    if (unrecorded(call, facts) && !isCalledRecording(fn, call, facts)) continue;
    // Frozen, it records nothing of what only data goes into.
    if (facts.networks.isFrozenByFlags(net)) continue;
    return {
      at: call.func,
      ...(single || helped || ran || inner ? { severity: "note" as const } : {}),
      message: `\`${facts.file.textOf(helped ?? ran ?? call.func).replace(/\.forward$/, "")}\` is in eval mode, yet each call records a graph and saves its activations`,
    };
  }
  return null;
}

/** `generator.eval(); save_image(generator(z)); generator.train()`: switched for a look, and back. */
function showing(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity: "note" } | null {
  const { file } = facts;
  const own = file.callsNamed("eval", "train").filter((call) => functionOf(call) === fn);
  for (const mode of own) {
    if (mode.func.kind !== "Attribute" || mode.func.attr !== "eval" || mode.args.length > 0) continue;
    const name = file.textOf(mode.func.value);
    const back = own.find(
      ({ func, start }) =>
        func.kind === "Attribute" &&
        func.attr === "train" &&
        start > mode.start &&
        file.textOf(func.value) === name,
    );
    if (!back) continue;
    const run = file
      .callsNamed(/\w+$/.exec(name)?.[0] ?? "")
      .find(
        (call) =>
          functionOf(call) === fn &&
          call.start > mode.end &&
          call.end < back.start &&
          file.textOf(call.func) === name &&
          !unrecorded(call, facts),
      );
    if (run)
      return {
        at: run.func,
        severity: "note",
        message: `\`${name}\` is in eval mode, yet the call records a graph and saves its activations`,
      };
  }
  return null;
}

/** The same by a word of the program's own: `model.switch_to_eval()`. */
function switched(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity: "note" } | null {
  const run = ranAfterOwnSwitch(fn, facts);
  return run
    ? {
        at: run.func,
        severity: "note",
        message: `\`${facts.file.textOf(run.func)}\` is in eval mode, yet the call records a graph and saves its activations`,
      }
    : null;
}

/** `def validate(model, loader)`, whose caller has switched to eval mode. */
function named(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity: "note" } | null {
  // By any other name it likely is one, if it goes through what is kept apart.
  const isNamed = /^_*(?:validat|evaluat|eval_|test_?(?:epoch|model|loop)|val_)|^_?(?:eval|test|val)$/.test(
    fn.name,
  );
  if (!isNamed && !facts.guesses) return null;
  // Nobody is seen calling it: a caller elsewhere may have switched recording off.
  if (facts.functionFacts(fn.body[0] ?? fn).callersGradOff !== "never" && !isCalledByBase(fn, facts))
    return null;
  for (const loop of [...facts.file.all("For"), ...facts.file.all("While")]) {
    if (functionOf(loop) !== fn) continue;
    const overData = loop.kind === "For" && isOverData(loop.iter, facts);
    if (!overData && !MEASURES.test(facts.file.codeOf(fn))) continue;
    if (!isNamed && !isOverHeldOut(loop, fn, facts)) continue;
    let found: Call | null = null;
    walk(loop, (node) => {
      if (
        node.kind === "Call" &&
        (overData || isGivenDrawn(node, loop, facts)) &&
        (isNetwork(node.func, facts) || (!isNamed && lossRun(node, facts) !== null)) &&
        !facts.networks.isLoss(node.func) &&
        (isNamed || !facts.networks.isFrozen(node.func)) &&
        !unrecorded(node, facts)
      )
        found ??= node;
      return found === null;
    });
    const call = found as Call | null;
    if (call)
      return {
        at: call.func,
        severity: "note",
        message: forNobody(fn, call, facts),
      };
  }
  return null;
}

/** `def mean_losses(model, test_loader)`: the numbers that are asked for of what is not learned from. */
function isOverHeldOut(loop: Loop, fn: FunctionDef, { file }: Facts): boolean {
  return HELD_OUT.test(file.codeOf(loop)) && MEASURES.test(file.codeOf(fn));
}

/** `for _ in range(n): x, y = get_batch(data); model(x, y)`, or by `next(batches)`: each turn of the loop takes a batch itself. */
function isGivenDrawn({ args }: Call, loop: Loop, { file }: Facts): boolean {
  const isDrawn = (expr: Expr, depth: number): boolean => {
    if (depth > 4) return false;
    if (expr.kind === "Subscript") return isDrawn(expr.value, depth + 1);
    if (expr.kind === "Call") {
      const { func } = expr;
      if (func.kind === "Attribute" && /^(?:to|cuda)$/.test(func.attr)) return isDrawn(func.value, depth + 1);
      return file.dotted(func) === "builtins.next" || /(?:^|_)batch(?:es)?(?:_|$)/.test(lastWord(func));
    }
    const [one, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
    if (!one?.value || more.length > 0 || !contains(loop, one.node)) return false;
    const part = one.value.kind === "Tuple" ? one.value.items[one.index ?? -1] : one.value;
    return part !== undefined && isDrawn(part, depth + 1);
  };
  return args[0]?.star === 0 && isDrawn(args[0].value, 0);
}

/** `self._validate(loader)` of the class that this one derives from, which records there; the method that it has itself is another. */
function isCalledByBase(fn: FunctionDef, facts: Facts): boolean {
  const { file, project } = facts;
  if (facts.functionFacts(fn.body[0] ?? fn).callersGradOff !== "unknown") return false;
  const base = fn.parent?.kind === "ClassDef" ? fn.parent.args[0] : undefined;
  const name = base && base.name === null ? file.dotted(base.value) : null;
  if (name === null) return false;
  const method = `${name}.${fn.name}`;
  const own = project.functions.get(method) ?? project.functions.get(project.aliases.get(method) ?? "");
  return own?.callersGradOff === "never";
}

function forNobody(fn: FunctionDef, run: Call, { file }: Facts): string {
  return `\`${fn.name}\` differentiates nothing, yet each call of \`${file.textOf(run.func)}\` records a graph and saves its activations`;
}

/** `model.eval(); score(model, loader)`: by any name, when it is only ever called with the network in eval mode. */
function called(fn: FunctionDef, facts: Facts): { at: Node; message: string; severity: "note" } | null {
  const { file } = facts;
  const [first, ...more] = callsOf(fn, file);
  let names = first ? inEvalMode(first, fn, facts) : [];
  for (const site of names.length === 0 ? [] : more) {
    const there = inEvalMode(site, fn, facts);
    names = names.filter((name) => there.includes(name));
  }
  // A caller elsewhere may have switched recording off, and one here may differentiate what it is handed.
  if (
    names.length === 0 ||
    facts.functionFacts(fn.body[0] ?? fn).callersGradOff !== "never" ||
    !MEASURES.test(file.codeOf(fn)) ||
    [first!, ...more].some((site) => isDifferentiated(site, facts))
  )
    return null;
  const run = file
    .callsNamed(...names.map((name) => /\w+$/.exec(name)?.[0] ?? ""), "forward")
    .find(
      (call) =>
        functionOf(call) === fn &&
        names.includes(file.textOf(call.func).replace(/\.forward$/, "")) &&
        (loopsAround(call).length > 0 || inComprehension(call)) &&
        !unrecorded(call, facts),
    );
  const found = run ?? runInTurn(fn, new Set(names), facts);
  return found ? { at: found.func, severity: "note", message: forNobody(fn, found, facts) } : null;
}

/** The same by a method, `for user in users: scores = model.score(user)`, or by a function that is handed the network. */
function runInTurn(fn: FunctionDef, names: ReadonlySet<string>, facts: Facts): Call | null {
  let found: Call | null = null;
  walk(fn, (node) => {
    if (
      node.kind === "Call" &&
      (ranByMethod(node, names, facts) ?? runIn(node, names, facts)) !== null &&
      functionOf(node) === fn &&
      (loopsAround(node).length > 0 || inComprehension(node)) &&
      !unrecorded(node, facts)
    )
      found ??= node;
    return found === null;
  });
  return found;
}

/** What is in eval mode at a call, by what stands above it beside it, as the function that is called names it. */
function inEvalMode(site: Call, fn: FunctionDef, { file, networks }: Facts): string[] {
  const modes = new Map<string, boolean>();
  const around = functionOf(site);
  for (const { args, func, start } of file.callsNamed("eval", "train")) {
    if (func.kind !== "Attribute" || args.length > 1 || start > site.start || functionOf(func) !== around)
      continue;
    const off = func.attr === "eval" ? args.length === 0 : isFalse(args[0]?.value ?? null);
    // `if not training: model.eval()` says nothing of what stands below it; frozen, it records nothing.
    const sure = ancestors(func).every((at) => at.kind !== "If" || contains(at, site));
    modes.set(file.textOf(func.value), off && sure && !networks.isFrozenByFlags(func.value));
  }
  return [...modes].flatMap(([text, off]) => {
    if (!off) return [];
    const at = site.args.findIndex(({ star, value }) => star === 0 && file.textOf(value) === text);
    const skipped = fn.parent?.kind === "ClassDef" ? 1 : 0;
    if (at >= 0) return site.args[at]!.name ?? fn.params[at + skipped]?.name ?? [];
    // One of the script's own, or `self.model`; a parameter of that name is given another.
    return fn.params.some(({ name }) => name !== "self" && name === /^\w+/.exec(text)?.[0]) ? [] : text;
  });
}

/** `loss = score(model, loader)`, and then `loss.backward()`. */
function isDifferentiated(site: Call, facts: Facts): boolean {
  const statement = statementOf(site);
  const targets = statement?.kind === "Assign" ? statement.targets : [];
  const names = targets
    .flatMap((one) => (one.kind === "Tuple" ? one.items : [one]))
    .map((one) => facts.file.textOf(one));
  return facts.backwards.some(
    ({ call, loss }) =>
      contains(call, site) ||
      (functionOf(call) === functionOf(site) &&
        (loss === null ||
          names.some((name) =>
            facts.file
              .textOf(loss)
              .split(/[^\w.]+/)
              .includes(name),
          ))),
  );
}

/** `for batch in loader`, also over a progress bar that was made around it before. */
function isOverData(iter: Expr, { file }: Facts): boolean {
  return /load|_dl\b|batch|data/i.test(iteratedText(iter, file));
}

/** In no function, and over data: not `for _ in range(100):` of a benchmark. */
function isOfScript(at: Node, facts: Facts): boolean {
  const [loop] = loopsAround(at);
  return functionOf(at) === null && loop?.kind === "For" && isOverData(loop.iter, facts);
}

/** A function inside another, which calls it for each batch: `[run(batch) for batch in loader]`. */
function isCalledAgain(fn: FunctionDef, { file }: Facts): boolean {
  return callsOf(fn, file).some((call) => loopsAround(call).length > 0 || inComprehension(call));
}

function inComprehension(node: Node): boolean {
  for (let at = node.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Comp") return true;
  return false;
}

/** What is kept apart from what is learned from. */
const HELD_OUT =
  /(?:^|[^a-z])(?:val|valid|validation|dev|eval|test)(?:_?(?:data)?(?:set|_?load(?:er)?|_?dl|_?iter))\w*\b/i;

/**
 * A loop of its own after `model.eval()`, or over data that is kept apart, in code that trains elsewhere: a script, a
 * notebook, one long function.
 */
function* loops(facts: Facts, evaluates: boolean): Generator<Finding> {
  const { file } = facts;
  const modes = file
    .callsNamed("eval", "train")
    .filter(
      (call) =>
        call.func.kind === "Attribute" && /^(?:eval|train)$/.test(call.func.attr) && call.args.length <= 1,
    );
  for (const loop of file.all("For")) {
    const apart = HELD_OUT.test(iteratedText(loop.iter, file));
    if (!evaluates && !apart) continue;
    const mine = modes.filter((call) => functionOf(call) === functionOf(loop) && call.start < loop.start);
    if (mine.length === 0 && !apart) continue;
    if (facts.backwards.some(({ call }) => contains(loop, call))) continue;
    const own = file.all("Call").filter((call) => contains(loop, call) && loopsAround(call).includes(loop));
    if (
      own.some(
        (call) => facts.callee(call)?.reachesBackward === true || /^(?:step|train)$/.test(attributeOf(call)),
      )
    )
      continue;
    if (DIFFERENTIATES.test(file.codeOf(loop))) continue;
    const isOff = new Map<string, boolean>();
    for (const { func } of mine)
      if (func.kind === "Attribute") isOff.set(file.textOf(func.value), func.attr === "eval");
    const off = new Map([...isOff].filter(([, one]) => one));
    const found = own.find((call) => {
      const last = mine.findLast(
        (one) => one.func.kind === "Attribute" && file.textOf(one.func.value) === file.textOf(call.func),
      );
      return last?.func.kind === "Attribute" && last.func.attr === "eval" && !unrecorded(call, facts);
    });
    // `loss = compute_loss(model, batch)`, which the training calls as well; `model.inference(batch)`.
    const ran = (call: Call): Expr | null => runIn(call, off, facts) ?? ranByMethod(call, off, facts);
    const helped = found ? null : own.find((call) => ran(call) !== null && !unrecorded(call, facts));
    const run = found?.func ?? (helped && ran(helped));
    const lent =
      run || off.size === 0 || !MEASURES.test(file.codeOf(loop))
        ? undefined
        : own.find((call) => isLossOfOff(call, off, facts));
    const measured = run || lent || !apart ? lent : own.find((call) => isMeasured(call, loop, facts));
    if (run)
      yield {
        at: (found ?? helped!).func,
        ...(helped ? { severity: "note" as const } : {}),
        message: `\`${file.textOf(run)}\` is in eval mode, yet each call records a graph and saves its activations`,
      };
    else if (measured)
      yield {
        at: measured.func,
        severity: "note",
        message: `Nothing here is differentiated, yet each call of \`${file.textOf(measured.func)}\` records a graph and saves its activations`,
      };
  }
}

/** The run of a network that learns, in a loop that wants numbers of it. */
function isMeasured(call: Call, loop: Loop, facts: Facts): boolean {
  return (
    isNetwork(call.func, facts) &&
    !facts.networks.isLoss(call.func) &&
    !facts.networks.isFrozen(call.func) &&
    facts.gradMode(call) === "on" &&
    !unrecorded(call, facts) &&
    MEASURES.test(facts.file.codeOf(loop))
  );
}

/** `if step % n == 0: model.eval(); loss = model(batch)`: an evaluation without a loop of its own, in the step's. */
function* blocks(facts: Facts, seen: ReadonlySet<Node>): Generator<Finding> {
  const { file } = facts;
  for (const mode of file.callsNamed("eval")) {
    const statement = statementOf(mode);
    const block = statement?.parent;
    if (mode.func.kind !== "Attribute" || mode.args.length > 0 || block?.kind !== "If") continue;
    const fn = functionOf(block);
    const loop = facts.stepLoop(block);
    if (!loop && !isAfterStep(block, fn, facts) && !isAfterStepsInside(block, facts)) continue;
    if ((fn && seen.has(fn)) || facts.backwards.some((one) => contains(block, one.call))) continue;
    if (DIFFERENTIATES.test(file.codeOf(block))) continue;
    const name = file.textOf(mode.func.value);
    const outside = (call: Call): Loop | undefined => loopsAround(call).find((one) => !contains(block, one));
    const below = file
      .all("Call")
      .filter(
        (call) =>
          call.start > mode.end &&
          contains(block, call) &&
          outside(call) === loopsAround(block)[0] &&
          !unrecorded(call, facts),
      );
    const run = below.find(
      (call) => file.textOf(call.func) === name && loopsAround(call)[0] === outside(call),
    );
    // `gan.eval()` of an object around several, and `gan.G(z)`, below the steps that it takes itself.
    const part = run ? undefined : below.find((call) => isPartOf(call.func, name, facts));
    if (part)
      yield {
        at: part.func,
        severity: "note",
        message: `\`${name}\` is in eval mode, yet each call of \`${file.textOf(part.func)}\` records a graph and saves its activations`,
      };
    if (run)
      yield {
        at: run.func,
        ...(loop ? {} : { severity: "note" as const }),
        message: `\`${name}\` is in eval mode, yet each call records a graph and saves its activations`,
      };
  }
}

/** `for loss in model(batch): loss.backward()`, and below it in the same turn of the loop around both. */
function isAfterStepsInside(block: If, { stepLoops }: Facts): boolean {
  const [around] = loopsAround(block);
  return around !== undefined && [...stepLoops].some((one) => contains(around, one) && one.end < block.start);
}

/** In a function that is a step by itself, as of a whole graph, and has differentiated and stepped above. */
function isAfterStep(block: If, fn: Node | null, facts: Facts): boolean {
  const inside = (call: Call): boolean => functionOf(call) === fn;
  return (
    fn !== null &&
    loopsAround(block).length === 0 &&
    optimizerSteps(facts.file).some((step) => inside(step) && step.end < block.start) &&
    facts.backwards.every(({ call }) => !inside(call) || call.end < block.start) &&
    facts.hot(block) !== null
  );
}

function attributeOf(call: Call): string {
  return call.func.kind === "Attribute" ? call.func.attr : "";
}

/** `evaluate(net, test)` beside `with torch.no_grad(): evaluate(net, valid)`: right at one call, wrong at the other. */
function isCalledRecording(fn: FunctionDef, run: Call, facts: Facts): boolean {
  const { file } = facts;
  if (facts.functionFacts(run).callersGradOff !== "sometimes" || lexicalGrad(run, file) !== null)
    return false;
  return callsOf(fn, file).some((call) => facts.gradMode(call) === "on");
}

/** Adversarial examples, saliency, tests of gradients: anything that needs the graph. */
function usesGradients(fn: FunctionDef, facts: Facts): boolean {
  if (facts.functionFacts(fn.body[0] ?? fn).reachesBackward) return true;
  return (
    /backward|autograd(?!\.(?:profiler|Variable))|requires_grad(?!\s*=\s*False)|enable_grad|\.grad\b|set_grad_enabled|create_graph|return_loss_for_training/.test(
      facts.file.codeOf(fn),
    ) || fn.body.some((statement) => yieldsGraph(statement, facts))
  );
}

/** What a generator hands out with its graph, its caller may differentiate; numbers and class indices nobody can. */
function yieldsGraph(node: Node, facts: Facts): boolean {
  let found = false;
  walk(node, (inner) => {
    if (inner.kind === "Yield") found ||= inner.value === null || facts.value(inner.value).graph !== "no";
    return !found && inner.kind !== "FunctionDef" && inner.kind !== "Lambda";
  });
  return found;
}
