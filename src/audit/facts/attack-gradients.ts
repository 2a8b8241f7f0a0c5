import { functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import { backwardsTaken } from "./attacks.ts";
import { runsBehind } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { freezes } from "./freezing.ts";
import { ranNetwork } from "./networks.ts";

/** The backward of an attack that a step makes, and the network that gets gradients beside the input that is asked for. */
export interface AttackGradients {
  readonly at: Call;
  readonly network: string;
}

/** `loss.backward()` and `delta.grad.sign()` below it, where `torch.autograd.grad(loss, delta)` asks for nothing else. */
export function* attackGradients(facts: Facts): Generator<AttackGradients> {
  const { file, backwards } = facts;
  const taken = new Set(backwardsTaken(file, backwards));
  const seen = new Set<unknown>();
  for (const backward of backwards) {
    const { call, loss } = backward;
    const fn = functionOf(call);
    if (taken.has(backward) || !loss || seen.has(fn) || !facts.hot(call)) continue;
    const [run] = runsBehind(loss, facts);
    const network = run ? (ranNetwork(run, facts) ?? run.func) : null;
    if (!network || freezes(file.code, file.textOf(network))) continue;
    seen.add(fn);
    yield { at: call, network: file.textOf(network) };
  }
}
