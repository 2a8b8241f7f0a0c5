import type { Bytes } from "../base/units.ts";
import { MiB } from "../base/units.ts";
import { type Card, cardOf } from "../plan/cards.ts";
import { ask } from "./program.ts";

export interface Holder {
  readonly pid: number;
  readonly name: string;
  /** Null where the driver does not say (containers, Windows). */
  readonly used: Bytes | null;
}

export interface Gpu {
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  readonly total: Bytes;
  readonly free: Bytes;
  readonly driver: string;
  readonly holders: readonly Holder[];
}

export interface GpuReading {
  readonly gpus: readonly Gpu[];
  /** Why there are none. */
  readonly problem: string | null;
}

const CSV = "--format=csv,noheader,nounits";

/** The cards as the driver sees them. */
export async function readGpus(): Promise<GpuReading> {
  const fields = "index,uuid,name,memory.total,memory.free,driver_version";
  const cards = await ask("nvidia-smi", [`--query-gpu=${fields}`, CSV]);
  if (cards.absent) return { gpus: [], problem: "no nvidia-smi on the PATH" };
  if (cards.problem !== null) return { gpus: [], problem: `nvidia-smi: ${cards.problem}` };
  const apps = await ask("nvidia-smi", ["--query-compute-apps=gpu_uuid,pid,process_name,used_memory", CSV]);
  const holders = rowsOf(apps.out).map((row) => ({ uuid: row[0], holder: holderOf(row) }));
  const gpus = rowsOf(cards.out).flatMap(([index, uuid, name, total, free, driver]) => {
    if (driver === undefined || !Number.isFinite(Number(total)) || !Number.isFinite(Number(free))) return [];
    return {
      index: Number(index),
      uuid: uuid!,
      name: name!,
      total: Number(total) * MiB,
      free: Number(free) * MiB,
      driver,
      holders: holders.filter((one) => one.uuid === uuid).map(({ holder }) => holder),
    };
  });
  return { gpus, problem: gpus.length > 0 ? null : "nvidia-smi names no card with memory of its own" };
}

const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.split(",").map((part) => part.trim()));

/** A program's name may hold commas: what is not one of the other columns is the name. */
function holderOf(row: readonly string[]): Holder {
  const used = Number(row.at(-1));
  return {
    pid: Number(row[1]),
    name: row.slice(2, -1).join(","),
    used: Number.isFinite(used) ? used * MiB : null,
  };
}

/**
 * The cards a process sees, in its order. An index that names none ends the list (CUDA programming guide,
 * environment variables).
 */
export function visibleGpus(gpus: readonly Gpu[], visible: string | undefined): readonly Gpu[] {
  if (visible === undefined) return gpus;
  const seen: Gpu[] = [];
  for (const word of visible.split(",").map((part) => part.trim())) {
    const found = /^\d+$/.test(word)
      ? gpus.find(({ index }) => index === Number(word))
      : word.startsWith("GPU-") && gpus.find(({ uuid }) => uuid.startsWith(word));
    if (!found) break;
    seen.push(found);
  }
  return seen;
}

/** What is known about a card of that name; of an unknown one, its memory. */
export function knownCard({ name, total }: Gpu): Card {
  const bare = name.replace(/-?\bSXM\d*\b|-?\bPCIe\b|\bHBM\d?e?\b/gi, "").trim();
  for (const words of [name, bare]) {
    try {
      const card = cardOf(words);
      if (Math.abs(card.memory - total) < 0.1 * total) return card;
    } catch {
      // Not one of the table's: try the next spelling.
    }
  }
  return { ...cardOf(`${Math.round(total)}B`), name };
}
