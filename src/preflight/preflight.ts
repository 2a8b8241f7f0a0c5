import { availableParallelism, freemem } from "node:os";
import { type Bytes, formatBytes } from "../base/units.ts";
import type { Card } from "../plan/cards.ts";
import type { Recipe } from "../plan/recipe.ts";
import { type Check, fail, pass, type Status, warn } from "./check.ts";
import { dataCheck, longestSample } from "./data.ts";
import { checkpointBytes, diskCheck, freeAt, type Saving } from "./disk.ts";
import { allocatorSetting, type Environment, environmentChecks } from "./environment.ts";
import { type Gpu, type GpuReading, knownCard, readGpus, visibleGpus } from "./gpus.ts";
import { libraryChecks } from "./libraries.ts";
import { readPython } from "./python.ts";
import {
  type Again,
  fragmentationCheck,
  hostCheck,
  type Need,
  needOf,
  recipeChecks,
  roomCheck,
} from "./room.ts";

export interface Ask {
  /** Null when only the machine is checked. */
  readonly recipe: Recipe | null;
  /** The model's family is known. */
  readonly known: boolean;
  readonly dtypeSaid: boolean;
  /** The card the user named; otherwise the one found. */
  readonly card: Card | null;
  readonly command: readonly string[];
  readonly env: Environment;
  readonly saving: Saving;
  readonly data: string | null;
  readonly again: Again;
}

/** Plain data: the `--json` output as it is. */
export interface PreflightResult {
  readonly schema: "plimsoll.preflight/1";
  readonly status: Status;
  readonly gpus: readonly Gpu[];
  /** What the run takes of each card, with its context. */
  readonly need: Bytes | null;
  readonly checks: readonly Check[];
}

/** Everything that can be checked before a launch; changes nothing. `until` waits for free memory. */
export async function preflight(
  ask: Ask,
  until: ((need: Bytes, read: () => Promise<readonly Gpu[]>) => Promise<void>) | null,
): Promise<PreflightResult> {
  const { env } = ask;
  const recipe = withAllocator(ask.recipe, env);
  const first = await readGpus();
  const card = ask.card ?? firstCard(first, env);
  const rules = recipe ? recipeChecks(recipe, card) : [];
  const sound = recipe !== null && rules.every(({ status }) => status !== "fail");
  const need = sound ? needOf(recipe, ask.known, card) : null;
  const ranks = recipe?.parallel.ranks ?? 1;
  const wanted = (reading: GpuReading): readonly Gpu[] =>
    visibleGpus(reading.gpus, env["CUDA_VISIBLE_DEVICES"]).slice(0, ranks);
  // Waiting for more than the card has would never end.
  const waits =
    until !== null && need !== null && wanted(first).length > 0 && need.plan.verdict?.fits !== false;
  if (waits) await until(need.bytes, async () => wanted(await readGpus()));
  const reading = waits ? await readGpus() : first;
  const python = await readPython(ask.command);
  const driver = reading.gpus[0]?.driver ?? null;
  const room = need ? needChecks(need, wanted(reading), ask) : [];
  // With memory to spare, what the allocator wastes of it matters to nobody.
  const tight = room.some(({ status }) => status !== "pass");
  const checks = [
    ...cardChecks(reading, ask, ranks),
    ...room,
    ...rules,
    ...libraryChecks(python, { driver, env, recipe, dtypeSaid: ask.dtypeSaid }),
    ...environmentChecks(env, { cores: availableParallelism(), ranks }),
    ...(need
      ? [tight ? fragmentationCheck(need) : null, hostCheck(need, availableHost()), await disk(need, ask)]
      : []),
    ask.data === null ? null : dataCheck(ask.data, await longestSample(ask.data), recipe),
  ].filter((check) => check !== null);
  const has = (status: Status): boolean => checks.some((check) => check.status === status);
  return {
    schema: "plimsoll.preflight/1",
    status: has("fail") ? "fail" : has("warn") ? "warn" : "pass",
    gpus: reading.gpus,
    need: need?.bytes ?? null,
    checks,
  };
}

/** What the environment says of the allocator is part of the recipe, unless the recipe says it itself. */
function withAllocator(recipe: Recipe | null, env: Environment): Recipe | null {
  const setting = allocatorSetting(env);
  if (!recipe || recipe.allocConf !== "" || !setting) return recipe;
  // A string that does not parse fails its own check; the plan is then of torch's defaults.
  const good =
    environmentChecks({ [setting.name]: setting.value }, { cores: 1, ranks: 1 })[0]!.status === "pass";
  return good ? { ...recipe, allocConf: setting.value } : recipe;
}

function firstCard({ gpus }: GpuReading, env: Environment): Card | null {
  const [gpu] = visibleGpus(gpus, env["CUDA_VISIBLE_DEVICES"]);
  return gpu ? knownCard(gpu) : null;
}

/** A container's limit counts as well as the machine's memory. */
const availableHost = (): Bytes => Math.min(freemem(), process.availableMemory());

async function disk(need: Need, { saving }: Ask): Promise<Check> {
  return diskCheck(checkpointBytes(need.plan), saving, await freeAt(saving.folder));
}

function cardChecks({ gpus, problem }: GpuReading, { env }: Ask, ranks: number): Check[] {
  if (problem !== null) {
    const mend = "run it where the training will run; or --card 24GB to hold the plan against a card";
    return [warn("GPU", `no GPU here (${problem}): cards, driver and free memory are not checked`, mend)];
  }
  const visible = visibleGpus(gpus, env["CUDA_VISIBLE_DEVICES"]);
  const checks: Check[] = gpus
    .filter((gpu) => visible.includes(gpu))
    .map(({ index, name, total, driver }) =>
      pass(`GPU ${index}`, `${name}, ${formatBytes(total)}, driver ${driver}`),
    );
  if (visible.length < ranks) checks.push(tooFew(gpus, visible.length, ranks, env["CUDA_VISIBLE_DEVICES"]));
  for (const gpu of visible) {
    if (gpu.holders.length === 0) continue;
    const who = gpu.holders.map(
      ({ pid, name, used }) => `${name} (pid ${pid}${used === null ? "" : `, ${formatBytes(used)}`})`,
    );
    const pids = gpu.holders.map(({ pid }) => pid).join(",");
    checks.push(
      warn(
        `GPU ${gpu.index} processes`,
        who.join(", "),
        `ps -o user,pid,etime,args -p ${pids} (whose they are)`,
      ),
    );
  }
  return checks;
}

function tooFew(gpus: readonly Gpu[], seen: number, ranks: number, set: string | undefined): Check {
  if (gpus.length < ranks)
    return fail(
      "GPUs",
      `${gpus.length} here, and the run is spread over ${ranks}`,
      `--cards ${gpus.length}x…`,
    );
  const indexes = gpus.slice(0, ranks).map(({ index }) => index);
  return fail(
    "CUDA_VISIBLE_DEVICES",
    `"${set}" leaves ${seen} of ${gpus.length} cards visible, and the run needs ${ranks}`,
    `export CUDA_VISIBLE_DEVICES=${indexes.join(",")}`,
    "CUDA programming guide, environment variables",
  );
}

function needChecks(need: Need, gpus: readonly Gpu[], { card, again }: Ask): Check[] {
  if (gpus.length > 0) {
    return gpus.map((gpu) => {
      const own = card ?? knownCard(gpu);
      return roomCheck(`GPU ${gpu.index} memory`, need, own, Math.min(gpu.free, own.memory), again);
    });
  }
  if (card) return [roomCheck("memory", need, card, card.memory, again)];
  return [warn("memory", `the run needs ${formatBytes(need.bytes)} with the CUDA context`, "--card 24GB")];
}
