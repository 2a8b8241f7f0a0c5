import { UserError } from "../../base/errors.ts";
import { parseBytes, type Bytes } from "../../base/units.ts";
import { type Card, cardOf, cardsOf } from "../../plan/cards.ts";
import type { Planned, PlanResult } from "../../plan/result.ts";
import type { Column } from "../../report/plan-markdown.ts";
import type { Command, Input, Io } from "../command.ts";
import type { Compared } from "../plan-compare.ts";
import { RECIPE_OPTIONS } from "../recipe-options.ts";

export const command: Command = {
  name: "plan",
  summary: "the memory of a training run before it runs: verdict, budget, binding moment, levers",
  usage: "plimsoll plan MODEL|FILE [recipe options] [--card 24GB | --cards 2xA5000] [--host 128GB]",
  examples: [
    {
      line: "plimsoll plan Qwen/Qwen2.5-7B --method lora --rank 128 --batch 2 --checkpointing --card 24GB",
      says: "does it fit, what is the peak made of, and which lever helps",
    },
    {
      line: "plimsoll plan ./config.json --optimizer adamw-8bit --batch 4 --seq 1024 --card 4090",
      says: "a model from its config.json",
    },
    {
      line: "plimsoll plan meta-llama/Llama-3.1-8B --method qlora --card 24GB --markdown",
      says: "a before/after table with the biggest lever",
    },
    {
      line: "plimsoll plan train.py --card 24GB",
      says: "the recipe read from a script (or a framework's YAML), options laid over it",
    },
    {
      line: "plimsoll plan gpt2 --batch 8 --seq 1024 --compare snapshot.pickle",
      says: "the prediction against a recorded run",
    },
  ],
  options: {
    ...RECIPE_OPTIONS,
    card: { type: "string", value: "CARD", summary: "the card: a size (24GB) or a name (4090, A100-80GB)" },
    cards: { type: "string", value: "NxCARD", summary: "several: 2xA5000" },
    host: { type: "string", value: "BYTES", summary: "host memory the run may have: 128GB" },
    compare: {
      type: "string",
      value: "OTHER",
      summary: "another plan's JSON, a tape, a recorded snapshot or a run's folder, component by component",
    },
    json: { type: "boolean", summary: "print the result as JSON" },
    markdown: { type: "boolean", summary: "print a before/after budget table" },
    html: {
      type: "string",
      value: "FILE",
      summary: "write budget, timeline and flame graph as one HTML file",
    },
    tape: { type: "string", value: "FILE", summary: "write the predicted events as an Arrow file" },
    snapshot: { type: "string", value: "FILE", summary: "write a snapshot that PyTorch's viewers open" },
    timing: { type: "boolean", summary: "say on stderr how long each part took" },
  },
  arguments: { name: "MODEL|FILE", min: 1, max: 1 },
  async run(input, io) {
    const begin = performance.now();
    if (input.options["json"] && input.options["markdown"])
      throw new UserError(
        "--json and --markdown exclude each other",
        "one of them; --html FILE goes with both",
      );
    const { card, count } = cardFrom(input);
    const host = bytesFrom(input, "host");
    const { readAsk } = await import("../ask.ts");
    const asked = await readAsk(input.positionals[0]!, input.options, count);
    const { planResult } = await import("../../plan/result.ts");
    const read = performance.now();
    const planned = planResult({ ...asked, card, host });
    const done = performance.now();
    const compared = await comparison(input, planned);
    await writeFiles(input, planned);
    await print(input, io, planned, compared, card);
    if (input.options["timing"]) {
      io.err(
        `timing: read ${(read - begin).toFixed(0)} ms, plan with ${planned.effects.length} levers ${(done - read).toFixed(0)} ms\n`,
      );
    }
    const { verdict, host: inHost } = planned.result;
    return verdict?.fits === false || inHost?.verdict?.fits === false ? 1 : 0;
  },
};

function cardFrom({ options }: Input): { readonly card: Card | null; readonly count: number } {
  const one = options["card"] as string | undefined;
  const several = options["cards"] as string | undefined;
  if (one !== undefined && several !== undefined)
    throw new UserError("--card and --cards exclude each other", "--card 24GB or --cards 2xA5000");
  if (several !== undefined) return cardsOf(several);
  return { card: one === undefined ? null : cardOf(one), count: 1 };
}

function bytesFrom({ options }: Input, name: string): Bytes | null {
  const text = options[name] as string | undefined;
  if (text === undefined) return null;
  const bytes = parseBytes(text);
  if (bytes === null || bytes <= 0)
    throw new UserError(`--${name} takes an amount of memory, not "${text}"`, `for example --${name} 128GB`);
  return bytes;
}

async function writeFiles({ options }: Input, planned: Planned): Promise<void> {
  const { tape } = planned.plan;
  if (typeof options["html"] === "string") {
    const { renderPlanPage } = await import("../../report/html/plan-page.ts");
    const { writeWhole } = await import("../../tape/file.ts");
    await writeWhole(options["html"], renderPlanPage(planned));
  }
  if (typeof options["tape"] === "string") {
    const { writeTapeFile } = await import("../../tape/file.ts");
    await writeTapeFile(options["tape"], tape);
  }
  if (typeof options["snapshot"] === "string") {
    const { placeApart } = await import("../../snapshot/place.ts");
    const { writeSnapshot } = await import("../../snapshot/write.ts");
    const { writeWhole } = await import("../../tape/file.ts");
    const chunks: Uint8Array[] = [];
    writeSnapshot([placeApart(tape)], { allocatorSettings: {}, annotations: [] }, (chunk) =>
      chunks.push(chunk),
    );
    await writeWhole(options["snapshot"], Buffer.concat(chunks));
  }
}

async function comparison({ options }: Input, planned: Planned): Promise<Compared | null> {
  const against = options["compare"] as string | undefined;
  if (against === undefined) return null;
  const { compareWith } = await import("../plan-compare.ts");
  return compareWith(against, planned);
}

async function print(
  { options }: Input,
  io: Io,
  planned: Planned,
  compared: Compared | null,
  card: Card | null,
): Promise<void> {
  const { result } = planned;
  if (options["json"]) {
    io.out(`${JSON.stringify(compared ? { ...result, compare: compared } : result, null, 2)}\n`);
    return;
  }
  if (options["markdown"]) {
    const { planMarkdown } = await import("../../report/plan-markdown.ts");
    const here = columnOf("this recipe", result);
    const [before, after] = compared ? [compared, here] : [here, await bestLever(planned, card)];
    io.out(planMarkdown(result, before, after));
    return;
  }
  const { planText } = await import("../../report/plan-text.ts");
  io.out(planText(result, { color: io.color, width: io.width }));
  if (compared) {
    const { compareText } = await import("../../report/plan-compare.ts");
    io.out(`\n${compareText(compared, columnOf("this plan", result), io.color, compared.told)}`);
  }
}

function columnOf(title: string, { budget, peak }: PlanResult): Column {
  return { title, budget, allocated: peak.allocated, reserved: peak.reserved };
}

/** The recipe with the one lever that lowers the peak most. */
async function bestLever({ effects, plan: made }: Planned, card: Card | null): Promise<Column | null> {
  const best = effects[0];
  if (!best || best.peakReserved >= made.peakReserved) return null;
  const { plan } = await import("../../plan/plan.ts");
  const after = plan(best.recipe, card);
  return {
    title: `with ${best.name}`,
    budget: after.budget,
    allocated: after.peakAllocated,
    reserved: after.peakReserved,
  };
}
