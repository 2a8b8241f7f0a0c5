import { UserError } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { type Card, CARDS, cardOf, CONTEXT } from "../plan/cards.ts";
import { checkRecipe, type Lever, LEVERS } from "../plan/levers.ts";
import { plan } from "../plan/plan.ts";
import type { Recipe } from "../plan/recipe.ts";
import type { RecordedEvent } from "./record.ts";

export interface PlannedRung {
  readonly change: string;
  readonly cost: string;
  readonly reserved: Bytes;
  readonly fits: boolean;
}

/** What plan says about the recipe of a run that ran out. */
export interface PlannedLadder {
  /** What this recipe needs, and what it could have had. */
  readonly reserved: Bytes;
  readonly usable: Bytes;
  /** The plan finds room for it: what ran out is not in the recipe. */
  readonly fits: boolean;
  /** Each lever that lowers the need, alone, cheapest first. */
  readonly alone: readonly PlannedRung[];
  /** Where none suffices alone: each laid on those before it, until it fits. Empty otherwise, or when nothing helps. */
  readonly together: readonly PlannedRung[];
}

/** From what costs nothing to what changes the training; the names are those of plan's levers. */
const CHEAPEST_FIRST = [
  "expandable segments",
  "fused attention (sdpa)",
  "chunked cross-entropy",
  "half the micro-batch, twice the accumulation",
  "optimizer stepped inside backward, no clipping",
  "8-bit optimizer",
  "full gradient checkpointing",
  "checkpoints in host memory",
  "optimizer state in host memory, no clipping",
  "bf16 weights",
  "LoRA, rank 16, on all linear layers",
  "QLoRA (NF4, double quantisation)",
];
const price = (name: string): number => (CHEAPEST_FIRST.indexOf(name) + 100) % 100;

/** The card as the run had it: without what others held, and no more than a limit on the process allowed. */
export function cardAt(oom: RecordedEvent, device: string | null): Card {
  const bytes = (name: string): Bytes => Number(oom[name] ?? Infinity);
  // The allocator gives as total what the process may have: less than the card under set_per_process_memory_fraction.
  const memory = Math.min(bytes("total"), bytes("free") + bytes("reserved")) + CONTEXT;
  const like = CARDS.find((card) => device?.includes(card.name)) ?? cardOf("24GB");
  return { ...like, name: device ?? like.name, memory };
}

export function plannedLadder(recipe: Recipe, card: Card): PlannedLadder {
  const made = plan(recipe, card);
  const levers = LEVERS.toSorted((a, b) => price(a.name) - price(b.name));
  const alone = levers.flatMap(({ name, cost, apply }) => {
    const rung = tried(apply(recipe), card, name, cost);
    return rung && rung.reserved < made.peakReserved ? [rung] : [];
  });
  const fits = made.verdict!.fits;
  const together =
    fits || alone.some((rung) => rung.fits) ? [] : fewest(recipe, card, levers, made.peakReserved);
  return { reserved: made.peakReserved, usable: made.verdict!.usable, fits, alone, together };
}

/** Levers laid on each other until it fits; then those that the last one made needless are taken out, dearest first. */
function fewest(recipe: Recipe, card: Card, levers: readonly Lever[], most: Bytes): PlannedRung[] {
  const stacked = stack(recipe, card, levers, most);
  if (!stacked.at(-1)?.fits) return stacked;
  let kept = levers.filter(({ name }) => stacked.some((rung) => rung.change === name));
  for (const lever of kept.slice(0, -1).toReversed()) {
    const fewer = kept.filter((one) => one !== lever);
    if (stack(recipe, card, fewer, most).at(-1)?.fits) kept = fewer;
  }
  return stack(recipe, card, kept, most);
}

function stack(recipe: Recipe, card: Card, levers: readonly Lever[], most: Bytes): PlannedRung[] {
  const rungs: PlannedRung[] = [];
  let changed = recipe;
  let need = most;
  for (const { name, cost, apply } of levers) {
    const next = apply(changed);
    const rung = tried(next, card, name, cost);
    if (!rung || rung.reserved >= need) continue;
    rungs.push(rung);
    if (rung.fits) break;
    [changed, need] = [next!, rung.reserved];
  }
  return rungs;
}

function tried(recipe: Recipe | null, card: Card, change: string, cost: string): PlannedRung | null {
  if (!recipe) return null;
  try {
    checkRecipe(recipe, card);
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
  const { peakReserved, verdict } = plan(recipe, card);
  return { change, cost, reserved: peakReserved, fits: verdict!.fits };
}
