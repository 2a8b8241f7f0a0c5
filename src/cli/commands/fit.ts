import { UserError } from "../../base/errors.ts";
import { type Bytes, GB, parseBytes } from "../../base/units.ts";
import type { Emitter } from "../../emit/emitter.ts";
import { EMITTERS } from "../../emit/emitters.ts";
import type { Fitted } from "../../fit/fit.ts";
import { KEEPABLE, type Keepable } from "../../fit/space.ts";
import { type Card, cardOf, cardsOf } from "../../plan/cards.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../plan/recipe.ts";
import type { Asked } from "../ask.ts";
import type { Command, Input, Io } from "../command.ts";
import { RECIPE_OPTIONS } from "../recipe-options.ts";

/** Kept in any case; named in --keep they do no harm. */
const ALWAYS_KEPT = new Set(["model", "method", "rank", "seq", "effective-batch", "batch"]);

export const command: Command = {
  name: "fit",
  summary: "the fastest recipes that fit the card, what each gives up, and the files to run them",
  usage:
    "plimsoll fit MODEL|FILE [recipe options] --card 24GB [--effective-batch N] [--host 128GB] [--emit KIND --out DIR]",
  examples: [
    {
      line: "plimsoll fit Qwen/Qwen2.5-7B --method lora --rank 128 --seq 2048 --effective-batch 16 --card 24GB",
      says: "nothing shortened: which levers make it fit, and at what speed",
    },
    {
      line: "plimsoll fit ./config.json --method full --card 48GB --host 128GB",
      says: "with room in host memory for what the card cannot hold",
    },
    {
      line: "plimsoll fit meta-llama/Llama-3.1-70B --effective-batch 64 --cards 8xH100-80GB --nodes 2",
      says: "layouts over sixteen cards: DDP, ZeRO-2, FSDP2 (whole or a copy a node), pipeline",
    },
    {
      line: "plimsoll fit train.py --card 4090 --emit trl --out fitted/",
      says: "from a script, and the files to run the first recipe",
    },
    {
      line: "plimsoll fit train.py --card 4090 --emit patch --out fitted/ && git apply fitted/train.patch",
      says: "the first recipe in your own script: only the arguments that change",
    },
  ],
  options: {
    ...RECIPE_OPTIONS,
    card: { type: "string", value: "CARD", summary: "the card: a size (24GB) or a name (4090, A100-80GB)" },
    cards: { type: "string", value: "NxCARD", summary: "several: 2xA5000" },
    nodes: { type: "string", value: "N", summary: "machines, each with the cards of --cards (default 1)" },
    network: {
      type: "string",
      value: "GBIT",
      summary: "between nodes, Gbit/s for each card (default 50)",
    },
    host: {
      type: "string",
      value: "BYTES",
      summary: "host memory the run may have (without it nothing is placed there)",
    },
    "effective-batch": {
      type: "string",
      value: "N",
      summary: "sequences in an optimizer step (default: batch × accumulation)",
    },
    keep: {
      type: "string",
      value: "NAMES",
      summary: `levers to leave as they are, with commas: ${KEEPABLE.join(", ")}`,
    },
    "may-shrink": {
      type: "string",
      value: "WHAT",
      summary: "what may be shortened when nothing fits",
      choices: ["seq"],
    },
    "may-pack": {
      type: "boolean",
      summary: "rows may be filled with samples instead of padded (a step then sees more of them)",
    },
    "may-autocast-adapters": {
      type: "boolean",
      summary: "LoRA may compute in the model's half precision (see --autocast-adapters)",
    },
    emit: {
      type: "string",
      value: "KINDS",
      summary: `write the first recipe's files, with commas: patch (a diff of the script it was read from), ${EMITTERS.map(({ name }) => name).join(", ")}`,
    },
    out: {
      type: "string",
      value: "DIR",
      summary: "where --emit writes (default: here; a patch is then printed)",
    },
    force: { type: "boolean", summary: "let --emit write over files that are there" },
    json: { type: "boolean", summary: "print the result as JSON" },
    markdown: { type: "boolean", summary: "print before and after as tables" },
    timing: { type: "boolean", summary: "say on stderr how long the search took" },
  },
  arguments: { name: "MODEL|FILE", min: 1, max: 1 },
  async run(input, io) {
    const { card, count, nodes } = cardsFrom(input);
    const host = bytesFrom(input, "host");
    const keep = keepFrom(input);
    const { readAsk } = await import("../ask.ts");
    const { options } = input;
    const spread = ["zero", "fsdp", "ddp", "tensor", "pipeline"].some((name) => options[name] !== undefined);
    const asked = await readAsk(input.positionals[0]!, options, spread ? count : 1);
    const emitters = await emittersFrom(input, asked);
    const recipe = inLoopOf(emitters, withEffectiveBatch(asked.recipe, input, spread ? 1 : count), input);
    const sayable = (one: Recipe): boolean => emitters.every(({ cannot }) => cannot(one) === null);
    const { fit } = await import("../../fit/fit.ts");
    const begin = performance.now();
    const mayShrinkSeq = options["may-shrink"] === "seq";
    const mayPack = options["may-pack"] === true;
    const mayAutocastAdapters = options["may-autocast-adapters"] === true;
    const fitted = fit({
      ...asked,
      recipe,
      card,
      cards: count,
      nodes,
      host,
      keep,
      mayShrinkSeq,
      mayPack,
      mayAutocastAdapters,
      sayable,
    });
    if (options["timing"]) {
      const seconds = (performance.now() - begin) / 1000;
      io.err(`timing: ${fitted.result.counts.considered} recipes in ${seconds.toFixed(2)} s\n`);
    }
    await print(input, io, fitted);
    if (fitted.recipe) await write(emitters, fitted.recipe, input, io);
    else sayUnsayable(emitters, recipe, io);
    return fitted.recipe ? 0 : 1;
  },
};

async function emittersFrom({ options }: Input, asked: Asked): Promise<readonly Emitter[]> {
  const names = ((options["emit"] as string | undefined) ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  const wrong = names.find((name) => name !== "patch" && !EMITTERS.some((one) => one.name === name));
  if (wrong !== undefined)
    throw new UserError(
      `--emit cannot be "${wrong}"`,
      `one or more of: patch, ${EMITTERS.map((one) => one.name).join(", ")}`,
    );
  const chosen = EMITTERS.filter((one) => names.includes(one.name));
  if (!names.includes("patch")) return chosen;
  if (printed(options) && (options["json"] || options["markdown"]))
    throw new UserError(
      "--emit patch prints the diff, and so does not go with --json or --markdown",
      "--out DIR",
    );
  return [await patchFor(asked), ...chosen];
}

/** Without a folder to write to, a diff goes where diffs go. */
const printed = (options: Input["options"]): boolean => options["out"] === undefined;

async function patchFor({ source, recipe }: Asked): Promise<Emitter> {
  if (!source || !/\.(?:py|ipynb)$/i.test(source.file))
    throw new UserError(
      "--emit patch changes a script, and the recipe is not from one",
      "plimsoll fit train.py …",
    );
  const { isAbsolute, dirname, basename, relative, join } = await import("node:path");
  const { patchOf } = await import("../../emit/patch/emitter.ts");
  const { readRecipe } = await import("../../recipe-files/read.ts");
  const { textBeside } = await import("../../recipe-files/file.ts");
  // Paths of a diff are of the folder it is applied in: here, or the script's own where that is elsewhere.
  const here = relative(".", source.file).replaceAll("\\", "/");
  const outside = here.startsWith("../") || isAbsolute(here);
  const root = outside ? dirname(source.file) : ".";
  const beside = (name: string): string | null => textBeside(isAbsolute(name) ? name : join(root, name));
  const name = outside ? basename(source.file) : here;
  const file = { name, text: beside(name)! };
  const { readFile } = await import("node:fs/promises");
  if (!Buffer.from(file.text).equals(await readFile(source.file)))
    throw new UserError(
      `${source.file} is not plain UTF-8: a diff of it would not apply`,
      "save it as UTF-8, no mark",
    );
  // What the script says itself, without the options beside it.
  return patchOf(file, beside, {
    ...DEFAULT_RECIPE,
    ...readRecipe(file, beside).recipe,
    model: recipe.model,
  });
}

/** Where nothing fits, what is asked for may be the reason: a stack cannot be told it. */
function sayUnsayable(emitters: readonly Emitter[], recipe: Recipe, io: Io): void {
  for (const { name, cannot } of emitters) {
    const why = cannot(recipe);
    if (why !== null)
      io.err(`--emit ${name} leaves out recipes it has no words for; the one asked for has: ${why}\n`);
  }
}

/** The files are of one kind of loop: where the user named none, that is the one to plan. */
function inLoopOf(emitters: readonly Emitter[], recipe: Recipe, { options }: Input): Recipe {
  const loops = [...new Set(emitters.flatMap(({ loop }) => loop ?? []))];
  if (loops.length > 1)
    throw new UserError(
      `--emit ${String(options["emit"])}: their loops differ (${loops.join(", ")})`,
      "emit them one by one",
    );
  const [loop] = loops;
  const given = Object.assign({}, ...emitters.map(({ always }) => always ?? {})) as Partial<Recipe>;
  const told = Object.fromEntries(Object.entries(given).filter(([name]) => options[name] === undefined));
  if (loop === undefined || loop === recipe.loop) return { ...recipe, ...told };
  if (options["loop"] !== undefined)
    throw new UserError(`--loop ${recipe.loop} is not what the emitted files run`, `--loop ${loop}`);
  return { ...recipe, ...told, loop, loss: recipe.loss === "chunked" ? "default" : recipe.loss };
}

async function write(
  emitters: readonly Emitter[],
  recipe: Recipe,
  { options }: Input,
  io: Io,
): Promise<void> {
  const { mkdir, writeFile } = await import("node:fs/promises");
  const { join } = await import("node:path");
  const folder = (options["out"] as string | undefined) ?? ".";
  for (const { name, text } of emitters.flatMap((emitter) => emitter.files(recipe))) {
    if (name.endsWith(".patch") && printed(options)) {
      io.out(`\n${text}`);
      continue;
    }
    const path = join(folder, name);
    try {
      await mkdir(folder, { recursive: true });
      await writeFile(path, text, { flag: options["force"] ? "w" : "wx" });
    } catch (cause) {
      const there = (cause as NodeJS.ErrnoException).code === "EEXIST";
      throw new UserError(
        there ? `${path} is there already` : `cannot write ${path}: ${(cause as Error).message}`,
        there ? "--force, or another --out" : "another --out",
      );
    }
    io.err(`wrote ${path}\n`);
  }
  for (const note of emitters.flatMap((emitter) => emitter.notes?.(recipe) ?? [])) io.err(`${note}\n`);
}

function cardsFrom(input: Input): { card: Card; count: number; nodes: number } {
  const nodes = numberFrom(input, "nodes", 1, 1024) ?? 1;
  const network = numberFrom(input, "network", 0.1, 10_000);
  const { card, count } = cardsOfNode(input);
  if (nodes > 1 && !Number.isInteger(nodes))
    throw new UserError(`--nodes takes a whole number, not "${nodes}"`);
  if (network !== null && nodes === 1)
    throw new UserError("--network is between nodes, and there is one", "--nodes 2 --network 100");
  return {
    card: network === null ? card : { ...card, networkLink: (network / 8) * GB },
    count: count * nodes,
    nodes,
  };
}

function numberFrom({ options }: Input, name: string, least: number, most: number): number | null {
  const text = options[name] as string | undefined;
  if (text === undefined) return null;
  const number = Number(text);
  if (!(number >= least && number <= most))
    throw new UserError(`--${name} takes a number from ${least} to ${most}, not "${text}"`);
  return number;
}

function cardsOfNode({ options }: Input): ReturnType<typeof cardsOf> {
  const one = options["card"] as string | undefined;
  const several = options["cards"] as string | undefined;
  if (one !== undefined && several !== undefined)
    throw new UserError("--card and --cards exclude each other", "--card 24GB or --cards 2xA5000");
  if (several !== undefined) return cardsOf(several);
  if (one === undefined) throw new UserError("no card to fit into", "--card 24GB, or a name: --card 4090");
  return { card: cardOf(one), count: 1 };
}

function bytesFrom({ options }: Input, name: string): Bytes | null {
  const text = options[name] as string | undefined;
  if (text === undefined) return null;
  const bytes = parseBytes(text);
  if (bytes === null || bytes <= 0)
    throw new UserError(`--${name} takes an amount of memory, not "${text}"`, `for example --${name} 128GB`);
  return bytes;
}

function keepFrom({ options }: Input): ReadonlySet<Keepable> {
  const names = ((options["keep"] as string | undefined) ?? "").split(",").map((name) => name.trim());
  const wrong = names.find(
    (name) => name !== "" && !ALWAYS_KEPT.has(name) && !KEEPABLE.includes(name as Keepable),
  );
  if (wrong !== undefined)
    throw new UserError(`--keep cannot be "${wrong}"`, `one or more of: ${KEEPABLE.join(", ")}`);
  return new Set(names.filter((name): name is Keepable => KEEPABLE.includes(name as Keepable)));
}

/** The user's micro-batch stays as the start; accumulation makes up the rest. */
function withEffectiveBatch(recipe: Recipe, { options }: Input, cards: number): Recipe {
  const text = options["effective-batch"] as string | undefined;
  const said = ["batch", "accumulation", "effective-batch"].some((name) => options[name] !== undefined);
  // A step of one sequence is nobody's wish on several cards.
  if (!said && recipe.batch * recipe.accumulation === 1) return { ...recipe, accumulation: cards };
  if (text === undefined) return recipe;
  const wanted = Number(text);
  const { batch, parallel } = recipe;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > 65_536)
    throw new UserError(`--effective-batch takes a whole number from 1 to 65,536, not "${text}"`);
  if (wanted % (batch * parallel.ranks) !== 0)
    throw new UserError(
      `--effective-batch ${wanted} is not a multiple of ${parallel.ranks > 1 ? `${parallel.ranks} cards × ` : ""}batch ${batch}`,
      "--batch 1",
    );
  return { ...recipe, accumulation: wanted / (batch * parallel.ranks) };
}

async function print({ options }: Input, io: Io, { result }: Fitted): Promise<void> {
  if (options["json"]) {
    io.out(`${JSON.stringify(result, null, 2)}\n`);
    return;
  }
  if (options["markdown"]) {
    const { fitMarkdown } = await import("../../report/fit-markdown.ts");
    io.out(fitMarkdown(result));
    return;
  }
  const { fitText } = await import("../../report/fit-text.ts");
  io.out(fitText(result, io.color));
}
