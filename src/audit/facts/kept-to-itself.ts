import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { feedsBackward } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { ranByHelper } from "./handed-networks.ts";
import { TRAINED } from "./left-out.ts";
import type { LeftOut } from "./left-out.ts";
import { ranNetwork } from "./networks.ts";
import { outermost } from "./optimised.ts";
import { optimizerSteps } from "./training.ts";

/** What takes its parameters, or switches them off. */
const UNFIT = /param|requires_grad|freeze|frozen|modules|children|optim|register|apply/i;

/** What others trained, made here and handed to nobody who would train it: whoever made the optimizer, its parameters cannot be in it. */
export function* keptToItself(facts: Facts): Generator<LeftOut> {
  const { file } = facts;
  for (const maker of [
    ...file.calls.given(["pretrained", "weights"]),
    ...file.callsNamed("from_pretrained"),
  ]) {
    if (!TRAINED.test(file.dotted(maker.func) ?? "") && !DIFFUSES.test(file.dotted(maker.func) ?? ""))
      continue;
    const made = outermost(maker);
    const [target, ...more] = made.parent?.kind === "Assign" ? made.parent.targets : [];
    const definition = target?.kind === "Name" && more.length === 0 ? file.scopes.definitionAt(target) : null;
    if (!definition || UNFIT.test(file.textOf(made))) continue;
    if (file.scopes.scopeOf(target!).bindings.get(definition.name)?.length !== 1) continue;
    const uses = file.scopes.uses(definition);
    const runs: Call[] = [];
    const alone = uses.every((use) => {
      // `vgg(x)`, `vgg.features(x)`
      const callee = use.parent?.kind === "Attribute" ? use.parent : use;
      const run = callee.parent?.kind === "Call" && callee.parent.func === callee ? callee.parent : null;
      if (run && (callee === use || (!UNFIT.test(lastWord(callee)) && ranNetwork(run, facts))))
        return runs.push(run) > 0;
      // `vgg.to(device)`; handed on, or under another name, it may be anybody's.
      if (isHandedIdly(use, facts)) {
        const taken = use.parent?.kind === "Arg" ? use.parent.parent : null;
        if (taken?.kind === "Call" && ranByHelper(taken, (given) => given === use, file)) runs.push(taken);
        return true;
      }
      const end = outermost(use);
      return end.parent?.kind === "ExprStmt" && !UNFIT.test(file.text.slice(use.end, end.end));
    });
    if (!alone) continue;
    for (const call of runs)
      if (
        facts.stepLoop(call) &&
        facts.gradMode(call) === "on" &&
        !facts.networks.isFrozen(target!) &&
        optimizerSteps(file).some((step) => functionOf(step) === functionOf(call)) &&
        feedsBackward(call, facts)
      )
        yield { run: call, network: definition.name };
  }
}

/** `diffusers.UNet2DConditionModel.from_pretrained`, which gives a network that requires gradients. */
const DIFFUSES = /^diffusers\.(?:\w+\.)*\w*(?:Model|ControlNet|Adapter|Autoencoder)\w*\.from_pretrained$/;

/**
 * `log_validation(unet, step)` by a function of this file that asks for no parameters, `Pipeline.from_pretrained(unet=unet)`
 * to look at what it makes, and `unet.config.sample_size`: nobody trains it there.
 */
function isHandedIdly(use: Expr, { file }: Facts): boolean {
  const { parent } = use;
  if (parent?.kind === "Attribute") {
    if (/^(?:config|dtype|device)$/.test(parent.attr)) return true;
    // `unet.enable_xformers_memory_efficient_attention()` below a test, by the name alone.
    return (
      parent.parent?.kind === "Call" &&
      parent.parent.func === parent &&
      /^(?:enable|disable)_\w+$/.test(parent.attr)
    );
  }
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call") return false;
  const name = file.dotted(call.func) ?? "";
  if (/Pipeline\w*(?:\.from_pretrained)?$/.test(name)) return true;
  const fn = file.functionNamed(name);
  return fn !== undefined && !UNFIT.test(file.codeOf(fn));
}
