import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf, lastWord, namesIn, statementOf, walk } from "../../python/nodes.ts";
import type { Call, If, Name, Node } from "../../python/tree.ts";
import type { Facts } from "../facts/facts.ts";
import { isNetwork } from "../facts/networks.ts";
import { likelyStep } from "../facts/likely.ts";
import { bareCall } from "../facts/constructors.ts";
import { isCapital, last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Rule } from "../rule.ts";

const MESSAGE =
  "A new compiled wrapper each time: its guards are checked, or the graph compiled, from the start; compile once before the loop";

export const rule: Rule = {
  meta: {
    code: "PLM062",
    name: "compiled-again-and-again",
    summary: "`torch.compile` is called on every step or epoch",
    severity: "warning",
    fix: "none",
    patterns: [62],
  },
  *check(facts) {
    const { file } = facts;
    // Functions of this file that hand out what they compile.
    const makers = new Set(
      file
        .callsNamed("compile")
        .flatMap(({ func, parent }) =>
          file.dotted(func) === "torch.compile" ? handedOut(parent, file) : [],
        ),
    );
    // `jit = partial(torch.compile, fullgraph=True)`
    const partials = file.callsNamed("partial").flatMap(({ args, parent }) => {
      const target = parent?.kind === "Assign" ? parent.targets[0] : null;
      return target?.kind === "Name" && args[0] && file.dotted(args[0].value) === "torch.compile"
        ? [target.id]
        : [];
    });
    const words = [...[...makers].map(last), ...partials];
    // By a function of another file that returns what it compiles.
    const elsewhere = new Set(
      facts.callsTo("makes").filter((call) => facts.callee(call)?.makes === "compiled"),
    );
    for (const call of new Set([...file.callsNamed("compile", ...words), ...elsewhere])) {
      const method =
        call.func.kind === "Attribute" && call.func.attr === "compile" && isNetwork(call.func.value, facts);
      const name = file.dotted(call.func);
      const partial = call.func.kind === "Name" && partials.includes(call.func.id);
      const made = elsewhere.has(call) || (name !== null && makers.has(name));
      const likely = facts.guesses && isCompilation(call, file);
      if (!method && !partial && name !== "torch.compile" && !made && !likely) continue;
      // A decorator runs where its function is defined, not in it.
      const runs = call.parent?.kind === "FunctionDef" ? call.parent : call;
      if (facts.everyStep(runs) || facts.everyEpoch(runs)) {
        if (!isOfSetting(call, facts) && !isMadeBeside(call, facts)) yield { at: call, message: MESSAGE };
      } else if (
        facts.guesses &&
        isLikelyAgain(runs, call, facts) &&
        !isOfSetting(call, facts) &&
        !isMadeBeside(call, facts)
      )
        yield { at: call, message: MESSAGE };
      else if (isRepeated(call, facts) || isCalledAgain(call, facts) || isNowAndThen(call, facts))
        yield { at: call, severity: "note", message: MESSAGE };
    }
    // A function defined in the step and decorated there is compiled each time.
    for (const fn of file.all("FunctionDef"))
      for (const decorator of fn.decorators)
        if (
          decorator.kind !== "Call" &&
          file.dotted(decorator) === "torch.compile" &&
          (facts.everyStep(fn) || (facts.guesses && isLikelyAgain(fn, null, facts)))
        )
          yield { at: decorator, message: MESSAGE };
  },
};

/** What makes networks or sets things up, once, whatever it is called by; what measures compiles on purpose. */
const SETS_UP =
  /init|setup|build|make|create|get_|load|prepare|configure|compile|wrap|main|bench|profil|warm|test|export|__call__|post_|model$/i;

/**
 * In a loop, of what the loop does not choose: `for epoch in …: net = torch.compile(net)`; or in a function that is called in
 * one, or goes through batches or is a step by its name, of what it was given: `self.net`, a parameter, a global.
 */
function isLikelyAgain(runs: Node, call: Call | null, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(runs);
  const [loop] = loopsAround(runs);
  if (fn?.kind === "FunctionDef" && SETS_UP.test(fn.name) && !loop) return false;
  const within = loop ?? fn;
  if (!within || within.kind === "Lambda" || facts.frequency(runs, within) !== "every") return false;
  if (file.says(/do_bench|perf_counter|Timer\(|torch\._dynamo\.reset|\bspeedup/)) return false;
  if (call && namesIn(call).some((name) => isChangedIn(within, name, call, file))) return false;
  if (loop) return true;
  return (
    facts.functionFacts(runs).repeated ||
    likelyStep(fn, file) ||
    facts.hot(runs) !== null ||
    (fn?.kind === "FunctionDef" &&
      /^(?:train|fit|evaluate|eval|validate|sample)_?(?:one_)?(?:epoch|loop|batch)?$/.test(fn.name) &&
      fn.params.some(({ name }) => name === "epoch"))
  );
}

/** Another one in each turn; `net = torch.compile(net)` is its own. */
function isChangedIn(within: Node, name: Name, call: Call, file: PythonFile): boolean {
  return file.scopes
    .reaching(name)
    .some(
      ({ how, node }) =>
        how !== "param" &&
        how !== "function" &&
        contains(within, node) &&
        !contains(statementOf(call)!, node),
    );
}

/** `net.compile(mode="max-autotune")`, which is no `re.compile("…")`. */
function isCompilation({ func, args }: Call, file: PythonFile): boolean {
  return (
    func.kind === "Attribute" &&
    func.attr === "compile" &&
    file.dotted(func) === null &&
    args.every(({ name }) => /^(?:mode|backend|fullgraph|dynamic|options)$/.test(name ?? ""))
  );
}

/** A test, without its `step % 500 == 0`. */
function withoutRemainders({ test }: If, { file }: Facts): string {
  return file.textOf(test).replace(/%[^=]*==\s*0/g, "");
}

/** `if step % 500 == 0: judge = torch.compile(model)`: at every evaluation of the training, in a step's loop or an epoch's. */
function isNowAndThen(call: Call, facts: Facts): boolean {
  const loop = facts.stepLoop(call) ?? facts.epochLoop(call);
  const given = call.args[0]?.value;
  return (
    loop !== null &&
    given !== undefined &&
    isNetwork(given, facts) &&
    facts.frequency(call, loop) === "throttled" &&
    // `if step == 0: model = torch.compile(model)`
    !ancestors(call).some(
      (at) => at.kind === "If" && contains(loop, at) && /==|first|start/.test(withoutRemainders(at, facts)),
    )
  );
}

/** In `for n in args.sizes:` another function is compiled for each. */
function isOfSetting(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  const given = call.args[0]?.value;
  return (
    loop?.kind === "For" &&
    /^(?:args|cfg|config|opts?)\.\w+$/.test(facts.file.textOf(loop.iter)) &&
    given?.kind === "Name" &&
    facts.file.scopes.reaching(given).some((one) => contains(loop, one.node))
  );
}

/** `net = Net(width)` in the same turn: another network each time. */
function isMadeBeside(call: Call, { file }: Facts): boolean {
  const [loop] = loopsAround(call);
  // `net.compile(mode="default")`
  const method = call.func.kind === "Attribute" && file.dotted(call.func) === null ? call.func.value : null;
  const given = method ?? call.args[0]?.value;
  const makes = ({ func }: Call): boolean => isCapital(lastWord(func));
  return (
    loop !== undefined &&
    given?.kind === "Name" &&
    file.scopes
      .reaching(given)
      .some(
        ({ how, value, node }) =>
          how === "assign" && value?.kind === "Call" && makes(bareCall(value)) && contains(loop, node),
      )
  );
}

/** `return torch.compile(net)`, or by the name it was given. */
function handedOut(parent: Node | null, file: PythonFile): string[] {
  const fn = parent ? functionOf(parent) : null;
  if (fn?.kind !== "FunctionDef") return [];
  if (parent!.kind === "Return") return [file.qualified(fn)];
  const target = parent!.kind === "Assign" ? parent!.targets[0] : null;
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return made && file.scopes.uses(made).some((use) => use.parent?.kind === "Return")
    ? [file.qualified(fn)]
    : [];
}

/** What a function is given, compiled for its own use, in one that is called in every turn of a loop: a validation. */
function isCalledAgain(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const given = call.args[0]?.value;
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
  const made = target?.kind === "Name" ? facts.file.scopes.definitionAt(target) : null;
  return (
    fn?.kind === "FunctionDef" &&
    given?.kind === "Name" &&
    made !== null &&
    facts.file.scopes.reaching(given).every(({ how }) => how === "param") &&
    !facts.file.scopes.uses(made).some((use) => use.parent?.kind === "Return") &&
    loopsAround(call).length === 0 &&
    facts.functionFacts(call).repeated &&
    facts.frequency(call, fn) === "every"
  );
}

/** In a loop that changes nothing about what is compiled, or how. */
function isRepeated(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  if (!loop || call.args.length === 0 || facts.frequency(call, loop) !== "every") return false;
  let same = true;
  walk(call, (node) => {
    if (node.kind === "Name" && facts.file.scopes.reaching(node).some((one) => contains(loop, one.node)))
      same = false;
    return same;
  });
  return same;
}
