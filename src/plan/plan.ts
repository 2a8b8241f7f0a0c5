import { parseSettings } from "../allocator/settings.ts";
import { type Simulation, simulate } from "../allocator/simulate.ts";
import type { Bytes } from "../base/units.ts";
import { type Peak, peakOf, phasePeaks } from "../tape/curve.ts";
import type { Tape } from "../tape/tape.ts";
import { type PhaseName, PHASES } from "../tape/vocabulary.ts";
import { type Budget, makeUp } from "./budget.ts";
import { type Card, CONTEXT } from "./cards.ts";
import { execute } from "./execute.ts";
import type { Recipe } from "./recipe.ts";

/** The instant the peak happens. */
export interface Moment {
  readonly row: number;
  readonly step: number;
  readonly phase: PhaseName;
  /** Module path, "" at the top. */
  readonly module: string;
}

export interface Verdict {
  readonly fits: boolean;
  /** Memory PyTorch can have on the card: its total less the context. */
  readonly usable: Bytes;
  /** Left at the peak, or missing (negative). */
  readonly spare: Bytes;
  /** Fits only because the allocator gives back cached memory under pressure, this many times. */
  readonly retries: number;
}

export interface Plan {
  readonly recipe: Recipe;
  readonly tape: Tape;
  /** Bytes handed out at the highest, as torch.cuda.max_memory_allocated counts. */
  readonly peakAllocated: Bytes;
  /** Bytes held by the caching allocator at the highest, with no limit on memory. */
  readonly peakReserved: Bytes;
  readonly budget: Budget;
  readonly moment: Moment;
  readonly phases: readonly (Peak & { readonly phase: PhaseName })[];
  /** Allocated after each row. */
  readonly allocated: Float64Array;
  readonly verdict: Verdict | null;
}

/** Model × recipe → tape → budget, and whether it fits the card. */
export function plan(recipe: Recipe, card: Card | null = null): Plan {
  const { tape } = execute(recipe);
  const settings = parseSettings(recipe.allocConf);
  const simulation = simulate(tape, { settings, observe: true });
  const allocated = simulation.allocated!;
  const peak = peakOf(allocated);
  const parts = makeUp(tape, peak.row);
  const requested = Object.values(parts).reduce((a, b) => a + b, 0);
  const { phase, module, step } = tape.columns;
  const peakReserved = simulation.stats.reserved.peak;
  return {
    recipe,
    tape,
    peakAllocated: peak.bytes,
    peakReserved,
    budget: { ...parts, fragmentation: peakReserved - requested, "outside PyTorch": CONTEXT },
    moment: {
      row: peak.row,
      step: step[peak.row]!,
      phase: PHASES[phase[peak.row]!]!,
      module: tape.modules.text(module[peak.row]!),
    },
    phases: phasePeaks(tape, allocated),
    allocated,
    verdict: card ? judge(tape, simulation, card, recipe) : null,
  };
}

function judge(tape: Tape, free: Simulation, card: Card, recipe: Recipe): Verdict {
  const usable = card.memory - CONTEXT;
  const needed = free.stats.reserved.peak;
  if (needed <= usable) return { fits: true, usable, spare: usable - needed, retries: 0 };
  const capped = simulate(tape, { settings: parseSettings(recipe.allocConf), capacity: usable });
  if (capped.oom) return { fits: false, usable, spare: usable - needed, retries: capped.stats.retries };
  return { fits: true, usable, spare: usable - capped.stats.reserved.peak, retries: capped.stats.retries };
}
