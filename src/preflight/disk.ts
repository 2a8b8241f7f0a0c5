import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Bytes, formatBytes } from "../base/units.ts";
import type { Plan } from "../plan/plan.ts";
import { parametersOf } from "../plan/result.ts";
import { type Check, fail, pass, warn } from "./check.ts";

export interface Saving {
  readonly folder: string;
  /** Checkpoints kept; null when all are. */
  readonly kept: number | null;
}

/** Where a script or config saves: its own words for it, looked for as text. */
export function savingOf(file: string | null): {
  readonly folder: string | null;
  readonly kept: number | null;
} {
  const text = file === null ? "" : readText(file);
  const folder = /\.ya?ml$/i.test(file ?? "")
    ? /^\s*output_dir:\s*["']?([^\s"'#]+)/m.exec(text)
    : /\boutput_dir\b["']?\s*[=:]\s*["']([^"'\n]+)["']/.exec(text);
  const kept = /\bsave_total_limit\b["']?\s*[=:]\s*(\d+)/.exec(text);
  return { folder: folder?.[1] ?? null, kept: kept ? Number(kept[1]) : null };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Bytes free for this user where a folder is, or will be made. */
export async function freeAt(folder: string): Promise<Bytes> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const above = dirname(resolve(folder));
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || above === resolve(folder)) throw error;
    return freeAt(above);
  }
}

/** State of each kind of optimizer, bytes for a trained element of `size` bytes. */
function stateBytes(optimizer: string, size: number): number {
  if (optimizer.endsWith("8bit")) return optimizer.startsWith("lion") ? 1 : 2;
  if (optimizer === "sgd" || optimizer === "adafactor") return 0;
  if (optimizer === "paged_adamw") return 8;
  return optimizer.startsWith("adamw") ? 2 * size : size;
}

/** What the Trainer writes: the model or its adapter, and the optimizer's state. */
export function checkpointBytes({ recipe, trainable }: Plan): Bytes {
  const half = recipe.dtype === "fp32" ? 4 : 2;
  // peft keeps adapters in fp32 over a half-precision base (autocast_adapter_dtype).
  const size = recipe.method.kind === "lora" ? 4 : half;
  const saved = recipe.method.kind === "lora" ? trainable * size : parametersOf(recipe.model.config) * half;
  return saved + trainable * stateBytes(recipe.optimizer, size);
}

export function diskCheck(each: Bytes, { folder, kept }: Saving, free: Bytes): Check {
  const room = Math.floor(free / each);
  // The Trainer removes the oldest only after it has written the newest.
  const wanted = kept === null ? 1 : kept + 1;
  const says = `${formatBytes(free)} free in ${folder}: room for ${room} checkpoints of about ${formatBytes(each)}`;
  if (room < wanted) {
    const why =
      kept === null ? "" : `; ${kept} kept and one being written need ${formatBytes(each * wanted)}`;
    return fail("disk", says + why, "another output_dir, a lower save_total_limit, or save_only_model=True");
  }
  // All checkpoints are kept when nothing says otherwise: an epoch or two fill what takes fewer than this.
  if (kept === null && room < 5) return warn("disk", `${says}, and all are kept`, "save_total_limit=2");
  return pass("disk", says);
}
