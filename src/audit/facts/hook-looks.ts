import { functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import { methodsOf } from "./classes.ts";
import { DIFFERENTIATES } from "./evaluation-calls.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { SHOWS } from "./looks.ts";
import { isNetwork } from "./networks.ts";

/** What Lightning calls between the steps of a training, with gradients recorded; around a validation it records none. */
const BETWEEN = /^(?:on_train_(?:epoch_(?:start|end)|start|end)|training_epoch_end|on_epoch_(?:start|end))$/;

/** `def on_train_epoch_end(self): images = self(self.noise); logger.add_image(…, make_grid(images))`: the first run of each. */
export function* looksInHooks(facts: Facts): Generator<Call> {
  const { file } = facts;
  for (const cls of file.all("ClassDef")) {
    if (facts.role(cls) !== "lightning") continue;
    for (const hook of methodsOf(cls)) {
      const code = file.codeOf(hook);
      if (!BETWEEN.test(hook.name) || !SHOWS.test(code)) continue;
      if (DIFFERENTIATES.test(code) || /backward\(|_grad\b|inference_mode/.test(code)) continue;
      const run = file
        .all("Call")
        .find((call) => functionOf(call) === hook && isRun(call, facts) && lexicalGrad(call, file) === null);
      if (run) yield run;
    }
  }
}

/** `self(z)`, `self.generator(z)` */
function isRun({ args, func }: Call, facts: Facts): boolean {
  if (args.length === 0) return false;
  if (func.kind === "Name") return func.id === "self";
  return (
    func.kind === "Attribute" &&
    isNetwork(func, facts) &&
    !facts.networks.isLoss(func) &&
    !facts.networks.isFrozen(func)
  );
}
