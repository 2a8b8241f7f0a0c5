import { existsSync, readFileSync } from "node:fs";
import { UserError } from "../base/errors.ts";
import { fullestRank, isTight, linesOf, worthDoing, type Advice, type FindingAt } from "../monitor/advice.ts";
import type { RunSummary } from "../monitor/summary.ts";
import { CONTEXT } from "../plan/cards.ts";
import type { Asked } from "./ask.ts";

/** The file of a command that may describe its recipe: the script it runs, or the config it is given. */
export function recipeFileOf(command: readonly string[]): string | null {
  return command.find((part) => /\.(?:py|ya?ml)$/i.test(part) && existsSync(part)) ?? null;
}

/** Reads the recipe, plans it on the card that the run had, and looks up what audit says at the run's lines. */
export async function advise(file: string | null, summary: RunSummary): Promise<Advice> {
  const fullest = fullestRank(summary);
  const findings = await findingsAt(linesOf(summary)).catch(() => []);
  const nothing = { version: 1, recipe: null, planned: null, ladder: null, findings } as const;
  const without = (why: string): Advice => ({ ...nothing, why, todo: worthDoing(summary, null, findings) });
  if (!fullest?.device) return without("it did not run on a GPU");
  if (file === null)
    return without("the command names no script or config that could be read (--recipe FILE)");
  try {
    const { readAsk } = await import("./ask.ts");
    const ranks = summary.ranks.length;
    // Several ranks of a script that does not say how it is spread: DDP, as torchrun and accelerate have it.
    const asked = await readAsk(file, {}, ranks).catch((error: unknown) => {
      if (ranks > 1) return readAsk(file, { ddp: true }, ranks);
      throw error;
    });
    const { planned, ladder } = await plannedFor(asked, summary, fullest.device);
    const todo = worthDoing(summary, ladder, findings);
    return { version: 1, recipe: file, why: null, planned, ladder, findings, todo };
  } catch (error) {
    // The training has ended with an exit code of its own, which advice must not take the place of.
    const said = (error as Error).message;
    return without(error instanceof UserError ? said : `planning it failed, a fault of plimsoll's: ${said}`);
  }
}

async function plannedFor(
  { recipe }: Asked,
  summary: RunSummary,
  device: string,
): Promise<Pick<Advice, "planned" | "ladder">> {
  const { plan } = await import("../plan/plan.ts");
  const { cardAt, plannedLadder } = await import("../monitor/planned-ladder.ts");
  const fullest = fullestRank(summary)!;
  const oom = summary.ooms.find((one) => one["asked"] !== undefined);
  const card = cardAt(oom ?? { k: "end", t: 0, total: fullest.total - CONTEXT }, device);
  const { peakAllocated, peakReserved } = plan(recipe, card);
  return {
    planned: { allocated: peakAllocated, reserved: peakReserved },
    ladder: oom || isTight(fullest) ? plannedLadder(recipe, card) : null,
  };
}

/** Findings of audit on exactly these lines, each once. */
async function findingsAt(
  places: readonly { readonly file: string; readonly line: number }[],
): Promise<FindingAt[]> {
  const files = [...new Set(places.map(({ file }) => file))].filter((file) => existsSync(file));
  if (files.length === 0) return [];
  const { auditTexts } = await import("../audit/session.ts");
  const { DEFAULTS } = await import("../audit/settings.ts");
  const texts = files.map((path) => ({ path, text: readFileSync(path, "utf8") }));
  const { findings } = auditTexts(texts, DEFAULTS);
  return findings
    .filter(({ path, line, endLine }) =>
      places.some((place) => place.file === path && line <= place.line && place.line <= endLine),
    )
    .map(({ path, line, rule, message }) => ({ file: path, line, rule, message }));
}
