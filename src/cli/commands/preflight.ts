import { existsSync } from "node:fs";
import { UserError } from "../../base/errors.ts";
import { type Bytes, formatBytes } from "../../base/units.ts";
import { cardOf, cardsOf } from "../../plan/cards.ts";
import type { Gpu } from "../../preflight/gpus.ts";
import type { Asked } from "../ask.ts";
import type { Command, Input, Io } from "../command.ts";
import { RECIPE_OPTIONS } from "../recipe-options.ts";

/** What --wait alone says. */
const FOREVER = "forever";
const SPREADS = ["zero", "fsdp", "ddp", "tensor", "pipeline"];

export const command: Command = {
  name: "preflight",
  summary: "checks the machine before a launch: card, libraries, environment, disk, data; changes nothing",
  usage: "plimsoll preflight [MODEL|FILE] [recipe options] [--data FILE] [--wait] [-- python train.py …]",
  examples: [
    { line: "plimsoll preflight train.py -- python train.py", says: "all there is to check before a launch" },
    {
      line: "plimsoll preflight Qwen/Qwen2.5-7B --method lora --checkpointing --data train.jsonl",
      says: "a recipe by options, and the longest sample against its --seq",
    },
    {
      line: "plimsoll preflight train.py --wait && python train.py",
      says: "launch as soon as the card has room",
    },
  ],
  options: {
    ...RECIPE_OPTIONS,
    card: { type: "string", value: "CARD", summary: "the card, instead of the one found: 24GB, 4090" },
    cards: { type: "string", value: "NxCARD", summary: "several: 2xA5000" },
    output: {
      type: "string",
      value: "DIR",
      summary: "where checkpoints go (default: the file's output_dir, or here)",
    },
    checkpoints: {
      type: "string",
      value: "N",
      summary: "checkpoints kept (default: the file's save_total_limit)",
    },
    data: {
      type: "string",
      value: "FILE",
      summary: "training data, for its longest sample: jsonl, json, csv, tsv, txt, parquet, arrow",
    },
    wait: {
      type: "string",
      alone: FOREVER,
      value: "MINUTES",
      summary: "wait until enough memory is free, at most so long (alone: as long as it takes)",
    },
    json: { type: "boolean", summary: "print the result as JSON" },
  },
  arguments: { name: "MODEL|FILE", min: 0, max: 1 },
  async run(input, io) {
    const { options, positionals, rest } = input;
    const minutes = minutesFrom(options["wait"] as string | undefined);
    const named = positionals[0] ?? rest.find((word) => /\.(?:py|ya?ml)$/i.test(word) && existsSync(word));
    const { card, count } = await cardsFrom(input);
    const asked = named === undefined ? null : await readNamed(named, input, count, io);
    if (minutes !== null && !asked)
      throw new UserError("--wait does not know for how much memory", "name a MODEL or FILE to wait for");
    const { preflight } = await import("../../preflight/preflight.ts");
    const { savingOf } = await import("../../preflight/disk.ts");
    const { waitForRoom } = await import("../../preflight/wait.ts");
    const source = asked?.source ?? null;
    const saving = savingOf(source?.file ?? null);
    const about = ["plimsoll", "preflight", ...positionals].join(" ");
    const result = await preflight(
      {
        recipe: asked?.recipe ?? null,
        known: asked?.known ?? true,
        dtypeSaid:
          options["dtype"] !== undefined || (source?.found.some(({ field }) => field === "dtype") ?? false),
        card,
        command: rest,
        env: process.env,
        saving: {
          folder: (options["output"] as string | undefined) ?? saving.folder ?? ".",
          kept: keptFrom(options["checkpoints"] as string | undefined) ?? saving.kept,
        },
        data: (options["data"] as string | undefined) ?? null,
        again: {
          fit: `plimsoll fit ${named ?? "MODEL"} …`,
          wait: `${about} … --wait`,
        },
      },
      minutes === null ? null : (need, read) => waitForRoom(need, read, minutes, sayWaiting(need, io)),
    );
    if (options["json"]) io.out(`${JSON.stringify(result, null, 2)}\n`);
    else {
      const { preflightText } = await import("../../report/preflight-text.ts");
      io.out(preflightText(result, io.color));
    }
    return result.status === "fail" ? 1 : 0;
  },
};

/** A file that the user named must be readable; one that only the command names may hold no recipe. */
async function readNamed(
  name: string,
  { options, positionals }: Input,
  count: number,
  io: Io,
): Promise<Asked | null> {
  const { readAsk } = await import("../ask.ts");
  try {
    return await readAsk(name, options, count);
  } catch (error) {
    if (positionals.length > 0 || !(error instanceof UserError)) throw error;
    io.err(`${error.message}: only the machine is checked\n`);
    return null;
  }
}

async function cardsFrom({
  options,
}: Input): Promise<{ card: ReturnType<typeof cardOf> | null; count: number }> {
  const one = options["card"] as string | undefined;
  const several = options["cards"] as string | undefined;
  if (one !== undefined && several !== undefined)
    throw new UserError("--card and --cards exclude each other", "--card 24GB or --cards 2xA5000");
  if (several !== undefined) return cardsOf(several);
  const card = one === undefined ? null : cardOf(one);
  if (card || !SPREADS.some((name) => options[name] !== undefined)) return { card, count: 1 };
  const { readGpus, visibleGpus } = await import("../../preflight/gpus.ts");
  const { gpus } = await readGpus();
  return { card, count: Math.max(1, visibleGpus(gpus, process.env["CUDA_VISIBLE_DEVICES"]).length) };
}

function minutesFrom(text: string | undefined): number | null {
  if (text === undefined) return null;
  const minutes = text === FOREVER ? Infinity : Number(text);
  if (!(minutes > 0)) throw new UserError(`--wait takes minutes, not "${text}"`, "--wait, or --wait=30");
  return minutes;
}

function keptFrom(text: string | undefined): number | null {
  if (text === undefined) return null;
  const kept = Number(text);
  if (!Number.isInteger(kept) || kept < 1)
    throw new UserError(`--checkpoints takes a whole number, not "${text}"`, "--checkpoints 2");
  return kept;
}

/** One line for each change: a night of waiting is not a night of lines. */
function sayWaiting(need: Bytes, io: Io): (gpus: readonly Gpu[]) => void {
  let last = "";
  return (gpus) => {
    const short = gpus.filter(({ free }) => free < need);
    const held = short.map(({ index, free, holders }) => {
      const by = holders.map(({ name, pid }) => `${name} (pid ${pid})`);
      return `GPU ${index} has ${formatBytes(free)} free${by.length > 0 ? `, held by ${by.join(", ")}` : ""}`;
    });
    const line = `waiting for ${formatBytes(need)}: ${held.join("; ")}\n`;
    if (line !== last) io.err(line);
    last = line;
  };
}
