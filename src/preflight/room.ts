import { UserError } from "../base/errors.ts";
import { type Bytes, formatBytes } from "../base/units.ts";
import { bandOf } from "../plan/band.ts";
import { type Card, CONTEXT, CONTEXT_SPREAD } from "../plan/cards.ts";
import { cautions, checkRecipe, RULES } from "../plan/levers.ts";
import { type Plan, plan } from "../plan/plan.ts";
import type { Recipe } from "../plan/recipe.ts";
import { type Check, fail, pass, warn } from "./check.ts";

/** What the run takes of a card, its context included. */
export interface Need {
  readonly plan: Plan;
  readonly bytes: Bytes;
  /** The worst error seen in this kind of prediction, and the context's own spread. */
  readonly margin: Bytes;
}

export function needOf(recipe: Recipe, known: boolean, card: Card | null): Need {
  const made = plan(recipe, card);
  const { verdict, peakReserved } = made;
  const held = verdict?.fits && verdict.retries > 0 ? verdict.usable - verdict.spare : peakReserved;
  const margin = Math.round(bandOf(recipe, known).reserved.worst * peakReserved + CONTEXT_SPREAD);
  return { plan: made, bytes: held + CONTEXT, margin };
}

/** Commands that may mend: a search for a recipe, to which a card is added, and this command with --wait. */
export interface Again {
  readonly fit: string;
  readonly wait: string;
}

/** Whether the run fits what is free of a card. */
export function roomCheck(
  name: string,
  { plan: made, bytes, margin }: Need,
  card: Card,
  free: Bytes,
  again: Again,
): Check {
  const fit = (room: Bytes): string => `${again.fit} --card ${(Math.floor(room / 1e8) / 10).toFixed(1)}GB`;
  const wait = `${again.wait}; or ${fit(free)}`;
  const needs = `the run needs ${formatBytes(bytes)} with the CUDA context`;
  if (made.verdict?.fits === false)
    return fail(name, `${needs}; the ${card.name} has ${formatBytes(card.memory)}`, fit(card.memory));
  const says = `${formatBytes(free)} free; ${needs}`;
  if (free < bytes) {
    if (fitsIn(made.recipe, card, free)) {
      const how = "it fits only because the allocator gives cached memory back under pressure";
      return warn(name, `${says}: ${how}`, wait);
    }
    return fail(name, `${says}: short by ${formatBytes(bytes - free)}`, wait);
  }
  if (free < bytes + margin) {
    const off = `predictions of this kind have been off by up to ${formatBytes(margin)}`;
    return warn(name, `${says}: ${formatBytes(free - bytes)} to spare, and ${off}`, fit(free));
  }
  return pass(name, `${says}: ${formatBytes(free - bytes)} to spare`);
}

function fitsIn(recipe: Recipe, card: Card, free: Bytes): boolean {
  if (free <= CONTEXT) return false;
  return plan(recipe, { ...card, memory: free }).verdict?.fits === true;
}

/** The recipe against the rules of what excludes what. */
export function recipeChecks(recipe: Recipe, card: Card | null): Check[] {
  const broken = RULES.filter((rule) => rule.broken(recipe, card)).map(({ message, hint, source }) =>
    fail("recipe", message, hint, source),
  );
  if (broken.length > 0) return broken;
  try {
    checkRecipe(recipe, card);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [fail("recipe", error.message, error.hint ?? "another value")];
  }
  const said = cautions(recipe, card).map((caution) => warn("recipe", caution, "plimsoll fit finds others"));
  return said.length > 0 ? said : [pass("recipe", "breaks none of the rules of what excludes what")];
}

/** Below this share of the peak, another setting of the allocator is not worth a word. */
const WORTH = 0.02;

/** Whether another setting of the allocator would lower what is reserved. */
export function fragmentationCheck({ plan: { recipe, peakReserved } }: Need): Check | null {
  if (recipe.allocConf.includes("expandable_segments")) return null;
  const conf = [recipe.allocConf, "expandable_segments:True"].filter(Boolean).join(",");
  const saved = peakReserved - plan({ ...recipe, allocConf: conf }).peakReserved;
  if (saved < WORTH * peakReserved) return null;
  return warn(
    "fragmentation",
    `expandable segments would lower the reserved peak by ${formatBytes(saved)}`,
    `export PYTORCH_CUDA_ALLOC_CONF=${conf}`,
  );
}

export function hostCheck({ plan: { host } }: Need, available: Bytes): Check | null {
  if (!host) return null;
  const says = `${formatBytes(available)} of host memory available; what is offloaded takes ${formatBytes(host.total)}`;
  if (host.total > available)
    return fail("host memory", says, "offload less, or a machine with more: plimsoll plan … --host 128GB");
  return pass("host memory", says);
}
