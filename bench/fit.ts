/**
 * The search by itself: `npm run --silent bench:fit [-- --json FILE]`. For each scenario the best recipe found,
 * seconds, recipes considered and recipes a second, on one core. The first search is run twice, and the second
 * counted: the first also compiles the program.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { search, type SearchOptions } from "../src/fit/search.ts";
import { findModel } from "../src/plan/catalogue/catalogue.ts";
import { cardOf } from "../src/plan/cards.ts";
import { DEFAULT_RECIPE, type Method, type Recipe } from "../src/plan/recipe.ts";
import { recipeWords } from "../src/report/plan-words.ts";

const lora = (rank: number): Method => ({
  kind: "lora",
  adapter: { rank, dropout: 0, targets: "all-linear", dora: false, nonlinearity: "none" },
  quantization: null,
});
const qlora = (rank: number): Method => ({
  ...(lora(rank) as Extract<Method, { kind: "lora" }>),
  quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: false },
});
const FULL: Method = { kind: "full", frozenLayers: 0 };

const SEED_13B = {
  name: "13.2 B (docs/seeds)",
  config: JSON.parse(
    readFileSync(new URL("../docs/seeds/config-13b.json", import.meta.url), "utf8"),
  ) as Recipe["model"]["config"],
};

interface Scenario {
  readonly name: string;
  readonly model: string | Recipe["model"];
  readonly method: Method;
  readonly seq: number;
  readonly effective: number;
  readonly card: string;
  readonly ranks?: number;
  readonly host?: number;
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: "LoRA r128 of 7 B on 24 GB",
    model: "Qwen/Qwen2.5-7B",
    method: lora(128),
    seq: 2048,
    effective: 16,
    card: "24GB",
  },
  {
    name: "full 13 B on 48 GB + host",
    model: SEED_13B,
    method: FULL,
    seq: 2048,
    effective: 1,
    card: "48GB",
    host: 128e9,
  },
  {
    name: "full 13 B on 2 × 24 GB + host",
    model: SEED_13B,
    method: FULL,
    seq: 2048,
    effective: 2,
    card: "24GB",
    ranks: 2,
    host: 128e9,
  },
  {
    name: "full 0.5 B on 8 GB",
    model: "Qwen/Qwen2.5-0.5B",
    method: FULL,
    seq: 1024,
    effective: 32,
    card: "8GB",
  },
  {
    name: "QLoRA of 3 B on 8 GB",
    model: "Qwen/Qwen2.5-3B",
    method: qlora(16),
    seq: 2048,
    effective: 16,
    card: "8GB",
  },
  {
    name: "LoRA of 8 B on 16 GB",
    model: "meta-llama/Llama-3.1-8B",
    method: lora(16),
    seq: 2048,
    effective: 16,
    card: "RTX 4080",
  },
  {
    name: "QLoRA of 14 B on 24 GB",
    model: "Qwen/Qwen2.5-14B",
    method: qlora(64),
    seq: 2048,
    effective: 16,
    card: "4090",
  },
  {
    name: "full 1.5 B on 24 GB",
    model: "Qwen/Qwen2.5-1.5B",
    method: FULL,
    seq: 2048,
    effective: 64,
    card: "4090",
  },
  {
    name: "LoRA of 8 B, 32 k tokens, 48 GB",
    model: "meta-llama/Llama-3.1-8B",
    method: lora(16),
    seq: 32_768,
    effective: 8,
    card: "L40S",
  },
  {
    name: "LoRA of a MoE 8×7 B on 141 GB",
    model: "mistralai/Mixtral-8x7B-v0.1",
    method: lora(16),
    seq: 2048,
    effective: 16,
    card: "H200",
  },
  {
    name: "full 7 B on 80 GB",
    model: "Qwen/Qwen2.5-7B",
    method: FULL,
    seq: 2048,
    effective: 32,
    card: "H100 80GB",
  },
  {
    name: "QLoRA of 70 B on 48 GB",
    model: "meta-llama/Llama-3.1-70B",
    method: qlora(16),
    seq: 1024,
    effective: 16,
    card: "RTX 6000 Ada",
  },
  {
    name: "LoRA of 8 B on 40 GB",
    model: "meta-llama/Llama-3.1-8B",
    method: lora(64),
    seq: 4096,
    effective: 32,
    card: "A100 40GB",
  },
];

function optionsOf({ model, method, seq, effective, card, ranks = 1, host }: Scenario): SearchOptions {
  const found = typeof model === "string" ? findModel(model)! : model;
  const base: Recipe = {
    ...DEFAULT_RECIPE,
    model: { name: found.name, config: found.config },
    method,
    seq,
    accumulation: effective,
  };
  return {
    base,
    card: cardOf(card),
    ranks,
    nodes: 1,
    mayPack: false,
    mayAutocastAdapters: false,
    keep: new Set(),
    host: host ?? null,
    known: true,
    wanted: 6,
  };
}

search(optionsOf(SCENARIOS[0]!));
let recipes = 0;
let seconds = 0;
let slowest = 0;
const rows = SCENARIOS.map((scenario) => {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  const { ranked, nearest, counts } = search(optionsOf(scenario));
  const took = (performance.now() - begin) / 1000;
  const busy = process.cpuUsage(cpu).user / 1e6;
  recipes += counts.considered;
  seconds += took;
  slowest = Math.max(slowest, took);
  const best = ranked[0] ?? nearest;
  const row = {
    scenario: scenario.name,
    card: scenario.card,
    seconds: Number(took.toFixed(2)),
    cpuSeconds: Number(busy.toFixed(2)),
    considered: counts.considered,
    executed: counts.executed,
    simulated: counts.simulated,
    fits: ranked.length > 0,
    tokensPerSecond: best && Math.round(best.speed.tokensPerSecond),
    reservedGB: best && Number((best.reserved / 1e9).toFixed(2)),
    recipe: best ? recipeWords(best) : "",
  };
  console.log(
    `${row.scenario.padEnd(32)} ${took.toFixed(2).padStart(6)} s (${busy.toFixed(2)} s CPU) ${String(counts.considered).padStart(6)} recipes  ${row.fits ? "" : "NOTHING FITS, nearest: "}${row.tokensPerSecond} tokens/s, ${row.reservedGB} GB: ${row.recipe}`,
  );
  return row;
});
const at = process.argv.indexOf("--json");
if (at > 0) {
  const machine = { cpu: cpus()[0]!.model, cores: cpus().length, load: loadavg()[0], node: process.version };
  writeFileSync(
    process.argv[at + 1]!,
    `${JSON.stringify({ machine, command: "npm run --silent bench:fit", rows }, null, 1)}\n`,
  );
}
console.log(
  `${SCENARIOS.length} scenarios | slowest ${slowest.toFixed(2)} s | ${recipes} recipes in ${seconds.toFixed(1)} s | ${Math.round(recipes / seconds)} recipes/s`,
);
