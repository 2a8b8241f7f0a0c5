import { Torch } from "../autograd/torch.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Bytes } from "../base/units.ts";
import { clipGradients } from "../optimizers/clip.ts";
import { hostOptimizer } from "../optimizers/host.ts";
import { optimizerOf } from "../optimizers/optimizers.ts";
import { isLoss } from "../plan/budget.ts";
import type { Card } from "../plan/cards.ts";
import { execute } from "../plan/execute.ts";
import type { Recipe } from "../plan/recipe.ts";
import { Tape } from "../tape/tape.ts";
import { Action, Kind, Phase } from "../tape/vocabulary.ts";
import type { Stepping } from "./space.ts";
import { type NetWork, type Trained, trainedOf, workOf } from "./speed.ts";

/** How high a step's memory stands, requested bytes without optimizer state. */
export interface Levels {
  /** Highest, without gradients and without what the loss takes. */
  readonly plain: Bytes;
  /** Highest, without what the loss takes. */
  readonly graded: Bytes;
  /** When the loss takes most, without it and without gradients. */
  readonly before: Bytes;
  /** The most that the loss takes. */
  readonly loss: Bytes;
  /** Weights, adapters and workspaces: there from the first step to the last. */
  readonly standing: Bytes;
  readonly gradients: Bytes;
}

/** One step of the net by itself: what every optimizer and accumulation over it shares. */
export interface Profile extends Levels {
  readonly trainable: readonly Tensor[];
  readonly trained: Trained;
  readonly work: NetWork;
}

/** Executes one step of a recipe's net. */
export function profileOf(recipe: Recipe, card: Card): Profile {
  const bare: Recipe = {
    ...recipe,
    optimizer: "sgd",
    optimizerOnHost: false,
    optimizerInBackward: false,
    clip: false,
    accumulation: 1,
    allocConf: "",
  };
  const execution = execute(bare, 1, card.capability);
  return {
    ...levelsOf(execution.tape),
    trainable: execution.trainable,
    trained: trainedOf(execution, bare),
    work: workOf(execution)[0]!,
  };
}

const STANDING: ReadonlySet<number> = new Set([Kind.weight, Kind.adapter, Kind.workspace]);

function levelsOf(tape: Tape): Levels {
  const { action, bytes, kind, phase, module, storage } = tape.columns;
  const lossModules = new Map<number, boolean>();
  const ofLoss = (row: number): boolean => {
    if (STANDING.has(kind[row]!)) return false;
    if (phase[row] === Phase.loss) return true;
    let known = lossModules.get(module[row]!);
    if (known === undefined) lossModules.set(module[row]!, (known = isLoss(tape.modules.text(module[row]!))));
    return known;
  };
  const born = new Map<number, number>();
  const at = { live: 0, gradients: 0, loss: 0, standing: 0 };
  const most = { plain: 0, graded: 0, before: 0, loss: 0, gradients: 0 };
  for (let row = 0; row < tape.length; row++) {
    const opens = action[row] === Action.alloc;
    if (!opens && action[row] !== Action.free) continue;
    // What it turned out to be is written at its birth.
    if (opens) born.set(storage[row]!, row);
    const birth = born.get(storage[row]!)!;
    const size = opens ? bytes[birth]! : -bytes[birth]!;
    at.live += size;
    if (kind[birth] === Kind.gradient) at.gradients += size;
    else if (ofLoss(birth)) {
      at.loss += size;
      if (at.loss > most.loss) most.before = at.live - at.loss - at.gradients;
    } else if (STANDING.has(kind[birth]!)) at.standing += size;
    most.gradients = Math.max(most.gradients, at.gradients);
    most.loss = Math.max(most.loss, at.loss);
    most.graded = Math.max(most.graded, at.live - at.loss);
    most.plain = Math.max(most.plain, at.live - at.loss - at.gradients);
  }
  return { ...most, standing: at.standing };
}

/** What stepping takes on the card, whatever the net did before. */
export interface Footprint {
  readonly state: Bytes;
  /** For a moment, in the step. */
  readonly temporaries: Bytes;
}

/** Runs the real optimizer over tensors of the trained shapes; those that decay first, where they are apart. */
export function footprintOf(
  trainable: readonly Tensor[],
  stepping: Stepping,
  decays: (shape: readonly number[]) => boolean,
): Footprint {
  const tape = new Tape({ source: "plan" }, 1 << 12);
  const torch = new Torch(tape);
  const parameters = trainable.map(({ shape, dtype }) => {
    const parameter = torch.empty(shape, dtype, Kind.weight);
    parameter.grad = torch.empty(shape, dtype, Kind.gradient);
    return parameter;
  });
  const optimizer = stepping.optimizerOnHost ? hostOptimizer() : optimizerOf(stepping.optimizer);
  const groups = [true, false].map((yes) => parameters.filter(({ shape }) => decays(shape) === yes));
  const first = tape.length;
  torch.phase = Phase.optimizer;
  torch.noGrad(() => {
    if (stepping.clip) clipGradients(torch, parameters);
    const turns = stepping.optimizerInBackward ? parameters.map((p) => [p]) : groups;
    for (const turn of turns) optimizer.step(torch, turn);
  });
  const { action, bytes } = tape.columns;
  let live = 0;
  let peak = 0;
  for (let row = first; row < tape.length; row++) {
    if (action[row] === Action.alloc) live += bytes[row]!;
    else if (action[row] === Action.free) live -= bytes[row]!;
    peak = Math.max(peak, live);
  }
  return { state: live, temporaries: peak - live };
}

/** No run of such a recipe allocates less: rounding, and what is not looked at here, come on top. */
export function leastPeak(
  { plain, graded, before, loss, standing, gradients }: Levels,
  { state, temporaries }: Footprint,
  { optimizerInBackward, accumulation }: Pick<Recipe, "optimizerInBackward" | "accumulation">,
): Bytes {
  const ungraded = Math.max(plain, before + loss);
  if (optimizerInBackward) return ungraded + state;
  const through = accumulation > 1 ? ungraded + gradients : Math.max(graded, ungraded);
  return Math.max(through + state, standing + gradients + state + temporaries);
}
