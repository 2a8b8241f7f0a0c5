import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, FunctionDef } from "../../python/tree.ts";
import { isSelf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isOtherBranch } from "./guards.ts";
import { STEPPERS } from "./names.ts";
import { isNetwork } from "./networks.ts";
import { callsOf } from "./returns.ts";

/** By its name what a class around networks does for an evaluation. */
const TESTS = /^_*(?:test|validate|evaluate|inference)(?:_(?:step|batch|model|one))?$/;

/** By its name the same for one batch, beside a method that differentiates one: a framework's own is called so too. */
const TESTS_STEP = /^_*(?:val|valid|validation|eval|evaluation)_(?:step|batch|one)$/;

/** What speaks of recording has been thought about. */
const SPEAKS = /_grad\b|inference_mode|\.detach\(|\.backward\(|autograd\b(?!\.(?:profiler|Variable)\b)/;

/**
 * `def test(self): self.forward()`, of a class that has a method which takes a step beside it, its own or one that it leaves to its heirs:
 * by their names, what the one runs is differentiated for the other, and for this one nobody wants it.
 */
export function* testsOfOwn(facts: Facts): Generator<Call> {
  for (const fn of facts.file.all("FunctionDef")) {
    const cls = fn.parent?.kind === "ClassDef" ? fn.parent : null;
    if (!cls || !(TESTS.test(fn.name) ? isTestOfSteps(cls, facts) : isTestBeside(fn, cls, facts))) continue;
    if (SPEAKS.test(decoratedText(fn, facts.file))) continue;
    if (/^(?:always|sometimes)$/.test(facts.functionFacts(fn.body[0] ?? fn).callersGradOff)) continue;
    const run = runIn(fn, cls, facts);
    if (run) yield run;
  }
}

/** The same by names that say it anywhere, and those of what is asked for numbers. */
const MEASURES_ONE =
  /(?:^|_)(?:val|valid|validate|validation|test|testing|eval|evaluate|evaluation|infer|inference|score|accuracy)(?:_|$)/;

/**
 * `def eval_step(self, x): self.eval()` of a class that differentiates in another method, as `train_step`: who trains by the one asks
 * the other again and again, also where whatever calls them is handed an object it knows nothing of.
 */
export function isTestOfTrained(fn: FunctionDef, facts: Facts): boolean {
  const cls = fn.parent?.kind === "ClassDef" && MEASURES_ONE.test(fn.name) ? fn.parent : null;
  return (
    cls !== null &&
    (facts.guesses || facts.functionFacts(fn.body[0] ?? fn).callersGradOff === "never") &&
    methodsOf(cls).some((method) => method !== fn && isDifferentiatedIn(method, facts.file))
  );
}

/**
 * `def test(model, x): model.eval(); out = model(x)`, which a program asks once it has trained: of a whole set that is one call, and
 * its graph is as large as that.
 */
export function isTestAfterTraining(fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  if (fn.parent?.kind !== "Module" || !MEASURES_ONE.test(fn.name)) return false;
  const { callersGradOff, reachesBackward } = facts.functionFacts(fn.body[0] ?? fn);
  if (callersGradOff !== "never" || reachesBackward || !GIVES_NUMBERS.test(file.codeOf(fn))) return false;
  return callsOf(fn, file).some((site) => {
    const around = functionOf(site);
    return (
      // Also in a closure that the optimizer is handed.
      facts.backwards.some(
        ({ call }) => call.end < site.start && (around ? contains(around, call) : functionOf(call) === null),
      ) ||
      file
        .all("Call")
        .some(
          (one) =>
            one.end < site.start &&
            functionOf(one) === around &&
            facts.callee(one)?.reachesBackward === true &&
            !isOtherBranch(one, site),
        )
    );
  });
}

/** What is read of outputs, and takes no graph along. */
const GIVES_NUMBERS = /\.(?:item|numpy|tolist)\(|(?:^|[^a-z])(?:accuracy|acc|auc|f1)(?:_\w+)?\(/;

const isTestOfSteps = (cls: ClassDef, facts: Facts): boolean =>
  facts.role(cls) === "other" && takesSteps(cls, facts.file);

const isTestBeside = (fn: FunctionDef, cls: ClassDef, facts: Facts): boolean =>
  TESTS_STEP.test(fn.name) && /^(?:module|other)$/.test(facts.role(cls)) && differentiates(cls, facts.file);

function differentiates(cls: ClassDef, file: PythonFile): boolean {
  return methodsOf(cls).some((method) => isDifferentiatedIn(method, file));
}

const isDifferentiatedIn = (method: FunctionDef, file: PythonFile): boolean =>
  file.callsNamed("backward").some((call) => contains(method, call));

const decoratedText = (fn: FunctionDef, file: PythonFile): string =>
  file.text.slice(fn.decorators[0]?.start ?? fn.start, fn.end);

function takesSteps(cls: ClassDef, file: PythonFile): boolean {
  return methodsOf(cls).some((method) => STEPPERS.test(method.name) || isDifferentiatedIn(method, file));
}

/** `self.forward()`, which leaves on self what its networks make, or one of them: `self.net_g(self.lq)`. */
function runIn(fn: FunctionDef, cls: ClassDef, facts: Facts): Call | null {
  let found: Call | null = null;
  walk(fn, (node) => {
    if (found || node.kind !== "Call") return found === null;
    const own = selfAttribute(node.func);
    const runs =
      own === "forward"
        ? node.args.length === 0 && methodsOf(cls).some(({ name }) => name === own)
        : isSelf(node.func) ||
          (own !== null && isNetwork(node.func, facts) && !facts.networks.isLoss(node.func));
    if (runs && functionOf(node) === fn && lexicalGrad(node, facts.file) === null) found = node;
    return found === null;
  });
  return found;
}
