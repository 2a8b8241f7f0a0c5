import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { STEPPERS } from "./names.ts";
import { isNetwork } from "./networks.ts";

/** By its name what a class around networks does for an evaluation. */
const TESTS = /^_*(?:test|validate|evaluate|inference)(?:_(?:step|batch|model|one))?$/;

/** What speaks of recording has been thought about. */
const SPEAKS = /_grad\b|inference_mode|\.detach\(|\.backward\(|autograd\b/;

/**
 * `def test(self): self.forward()`, of a class that has a method which takes a step beside it, its own or one that it leaves to its heirs:
 * by their names, what the one runs is differentiated for the other, and for this one nobody wants it.
 */
export function* testsOfOwn(facts: Facts): Generator<Call> {
  for (const fn of facts.file.all("FunctionDef")) {
    const cls = fn.parent?.kind === "ClassDef" ? fn.parent : null;
    if (!cls || !TESTS.test(fn.name) || facts.role(cls) !== "other") continue;
    if (!takesSteps(cls, facts.file) || SPEAKS.test(decoratedText(fn, facts.file))) continue;
    if (/^(?:always|sometimes)$/.test(facts.functionFacts(fn.body[0] ?? fn).callersGradOff)) continue;
    const run = runIn(fn, cls, facts);
    if (run) yield run;
  }
}

const decoratedText = (fn: FunctionDef, file: PythonFile): string =>
  file.text.slice(fn.decorators[0]?.start ?? fn.start, fn.end);

function takesSteps(cls: ClassDef, file: PythonFile): boolean {
  return methodsOf(cls).some(
    (method) =>
      STEPPERS.test(method.name) || file.callsNamed("backward").some((call) => contains(method, call)),
  );
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
        : own !== null && isNetwork(node.func, facts) && !facts.networks.isLoss(node.func);
    if (runs && functionOf(node) === fn && lexicalGrad(node, facts.file) === null) found = node;
    return found === null;
  });
  return found;
}
