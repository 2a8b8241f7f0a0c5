import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { finalLayout } from "../../src/inspect/layout.ts";
import { inspect } from "../../src/inspect/inspect.ts";
import type { Inspection } from "../../src/inspect/result.ts";
import { DEFAULT_RECIPE } from "../../src/plan/recipe.ts";
import { planResult } from "../../src/plan/result.ts";
import { cardOf } from "../../src/plan/cards.ts";
import { renderInspectPage } from "../../src/report/html/inspect-page.ts";
import { renderPlanPage } from "../../src/report/html/plan-page.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { liveAt } from "../../src/tape/lifetimes.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action, Kind, Phase } from "../../src/tape/vocabulary.ts";
import { launchBrowser } from "../support/browser.ts";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const folder = mkdtempSync(join(tmpdir(), "plimsoll-test-"));
let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/snapshots/${name}`, import.meta.url));

async function inspected(name: string): Promise<Inspection> {
  const snapshot = await readSnapshotFile(fixture(name));
  const { tape, segments } = snapshot.devices.find((one) => one.tape.length > 0)!;
  return inspect(tape, name, { marks: snapshot.annotations, final: finalLayout(segments) });
}

interface Opened {
  readonly page: Page;
  /** Whatever the browser complained about, and whatever the page asked for. */
  readonly troubles: string[];
}

/** Opens a page as a user would, from disk, and lets nothing else be fetched. */
async function open(html: string, scheme: "light" | "dark" = "light"): Promise<Opened> {
  const file = join(folder, `${Math.random()}.html`);
  writeFileSync(file, html);
  const address = pathToFileURL(file).href;
  const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1200, height: 900 } });
  onTestFinished(() => context.close());
  const troubles: string[] = [];
  await context.route("**", async (route) => {
    if (route.request().url() === address) return route.continue();
    troubles.push(`asked for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(message.text());
  });
  page.on("pageerror", (error) => troubles.push(String(error)));
  await page.goto(address);
  await page.locator("html.ready").waitFor({ state: "attached" });
  return { page, troubles };
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly row: number;
}

/** After the frame that is due, what the timeline shows and which row is selected. */
function rangeOf(page: Page): Promise<Range> {
  return page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const { from, to, row } = document.getElementById("timeline").dataset;
    resolve({ from: Number(from), to: Number(to), row: Number(row) });
  })))`);
}

/** Different colours on a canvas, the empty background not counted. */
function coloursOf(page: Page, id: string): Promise<number> {
  return page.evaluate(`(() => {
    const canvas = document.getElementById("${id}");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) if (data[at + 3] === 255) seen.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
    return seen.size;
  })()`);
}

const shownTotal = async (page: Page): Promise<number> =>
  Number(await page.locator("#instant [data-total]").getAttribute("data-total"));

const shownSum = (page: Page): Promise<number> =>
  page.evaluate(
    `[...document.querySelectorAll("#makeup tr")].reduce((sum, row) => sum + Number(row.dataset.bytes), 0)`,
  );

describe("the page of a recording", () => {
  it("opens from disk without a network, says what was found, and draws", async () => {
    const { page, troubles } = await open(renderInspectPage(await inspected("gpt2-leak.pickle.gz")));
    expect(await page.locator("h1").textContent()).toContain("Leak: 51.5 MB more every step");
    expect(await page.locator(".findings").textContent()).toContain("/train/traces.py:39");
    // Six kinds and more stand out against axis, phases and lines.
    expect(await coloursOf(page, "timeline")).toBeGreaterThan(8);
    expect(await coloursOf(page, "overview")).toBeGreaterThan(4);
    expect(await page.locator("#flame .box").count()).toBeGreaterThan(20);
    expect(troubles).toEqual([]);
  });

  it("explains an out-of-memory, in the dark too", async () => {
    const { page, troubles } = await open(renderInspectPage(await inspected("qwen-oom.pickle.gz")), "dark");
    expect(await page.locator("h1").textContent()).toContain("Out of memory: 159 MB asked for, 928 kB short");
    expect(await page.locator(".findings .alarm").textContent()).toContain("a limit on this process");
    expect(await coloursOf(page, "timeline")).toBeGreaterThan(6);
    expect(troubles).toEqual([]);
  });

  it("starts at the peak, and shows the make-up of the moment that is clicked, by any grouping", async () => {
    const inspection = await inspected("gpt2-leak.pickle.gz");
    const { page } = await open(renderInspectPage(inspection));
    expect((await rangeOf(page)).row).toBe(inspection.result.peak.row);
    expect(await shownTotal(page)).toBe(inspection.result.peak.allocated);
    const box = (await page.locator("#timeline").boundingBox())!;
    for (const part of [0.2, 0.5, 0.8]) {
      await page.mouse.click(box.x + box.width * part, box.y + box.height / 2);
      const { row } = await rangeOf(page);
      const value = inspection.allocated[row]!;
      expect(await shownTotal(page)).toBe(value);
      for (const by of ["kind", "line", "module", "size", "phase"]) {
        await page.locator(`#makeup-tabs [data-by=${by}]`).click();
        expect(await shownSum(page)).toBe(value);
      }
      const count = `${liveAt(inspection.lives, row).length.toLocaleString("en")} storages`;
      expect(await page.locator("#flame .box").first().getAttribute("aria-label")).toContain(count);
    }
  });

  it("zooms and pans by wheel, drag and keys, over events and over time", async () => {
    const inspection = await inspected("gpt2-leak.pickle.gz");
    const { page, troubles } = await open(renderInspectPage(inspection));
    const whole = await rangeOf(page);
    expect(whole).toMatchObject({ from: 0, to: inspection.tape.length });
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    const box = (await page.locator("#timeline").boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -400);
    // The browser hands a wheel's event over when it likes.
    await expect.poll(async () => (await rangeOf(page)).from).toBeGreaterThan(0);
    const closer = await rangeOf(page);
    expect(closer.to - closer.from).toBeLessThan(whole.to - whole.from);

    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 - 150, box.y + box.height / 2, { steps: 3 });
    await page.mouse.up();
    const panned = await rangeOf(page);
    expect(panned.from).toBeGreaterThan(closer.from);
    expect(panned.to - panned.from).toBeCloseTo(closer.to - closer.from, 6);
    expect(panned.row).toBe(closer.row);

    await page.locator("#timeline").focus();
    await page.keyboard.press("ArrowLeft");
    expect((await rangeOf(page)).from).toBeLessThan(panned.from);
    await page.keyboard.press("+");
    expect((await rangeOf(page)).to).toBeLessThan(panned.to);
    await page.keyboard.press(".");
    expect((await rangeOf(page)).row).toBe(inspection.result.peak.row + 1);
    await page.keyboard.press("p");
    expect((await rangeOf(page)).row).toBe(inspection.result.peak.row);
    await page.keyboard.press("0");
    expect(await rangeOf(page)).toMatchObject({ from: 0, to: inspection.tape.length });

    await page.locator("#axis").selectOption("time");
    const { time } = inspection.tape.columns;
    expect((await rangeOf(page)).to).toBeCloseTo(time[inspection.tape.length - 1]! - time[0]!, 0);
    expect(await coloursOf(page, "timeline")).toBeGreaterThan(8);
    expect(troubles).toEqual([]);
  });

  it("says under the mouse what the moment is", async () => {
    const { page } = await open(renderInspectPage(await inspected("gpt2-leak.pickle.gz")));
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    const box = (await page.locator("#timeline").boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
    const tip = await page.locator("#tip").textContent();
    expect(tip).toMatch(/event [\d,]+ at [\d.]+ s, step 6, \w+/);
    expect(tip).toMatch(/[\d.]+ GB allocated, 1\.82 GB reserved/);
    expect(tip).toContain("optimizer state");
  });

  it("finds frames in the flame graph, comes closer on one and goes back", async () => {
    const { page } = await open(renderInspectPage(await inspected("gpt2-leak.pickle.gz")));
    await page.locator("#flame-search").fill("adam.py");
    const marked = page.locator("#flame .box.match");
    expect(await marked.count()).toBeGreaterThan(2);
    for (const box of await marked.all()) expect(await box.getAttribute("aria-label")).toContain("adam.py");
    // All of the optimizer's state is made there.
    expect(await page.locator("#flame-found").textContent()).toBe("498 MB, 28.8%");
    await page.locator("#flame-search").fill("no such frame");
    expect(await marked.count()).toBe(0);
    expect(await page.locator("#flame-found").textContent()).toBe("nothing found");
    await page.locator("#flame-search").fill("");

    const box = page.locator("#flame .box", { hasText: "step adam.py" }).first();
    const before = (await box.boundingBox())!.width;
    await box.click();
    expect((await box.boundingBox())!.width).toBeGreaterThan(before * 2);
    await page.locator("#flame-reset").click();
    expect((await box.boundingBox())!.width).toBeCloseTo(before, 0);

    await page.locator("#flame-by").selectOption("module");
    expect(await page.locator("#flame .box", { hasText: "modeling_gpt2.py:697" }).count()).toBe(1);
  });

  it("shows hostile text as text", async () => {
    const attack = `</script><img src=x onerror="window.hacked=1"><script>window.hacked=2</script>`;
    const tape = new Tape({ source: attack, allocConf: attack });
    const stack = tape.stacks.id(`/home/${attack}.py:3:${attack}\n/home/train.py:1:<!--<script>`);
    const module = tape.modules.id(`${attack}\u202e${"m".repeat(5000)}`);
    for (let id = 0; id < 8; id++)
      tape.append(
        Action.alloc,
        id,
        1000 * (id + 1),
        0,
        Phase.forward,
        Kind.activation,
        module,
        1,
        stack,
        0,
        id,
      );
    const { page, troubles } = await open(renderInspectPage(inspect(tape, `${attack}.pickle`)));
    for (const by of ["line", "module"]) {
      await page.locator(`#makeup-tabs [data-by=${by}]`).click();
      expect(await page.locator("#makeup").textContent()).toContain(`<img src=x onerror="window.hacked=1">`);
    }
    await page.locator("#flame .box", { hasText: "<img" }).last().hover();
    expect(await page.locator("#flame-detail").textContent()).toContain(attack);
    expect(await page.locator(".file").textContent()).toBe(`${attack}.pickle`);
    expect(await page.evaluate("[window.hacked, document.images.length, document.scripts.length]")).toEqual([
      undefined,
      0,
      2,
    ]);
    expect(troubles).toEqual([]);
  });

  it("needs neither events nor stacks", async () => {
    const empty = renderInspectPage(inspect(new Tape(), "empty.arrow"));
    expect(empty).not.toContain(`id="timeline"`);
    const tape = new Tape();
    tape.append(Action.alloc, 0, 512);
    const { page, troubles } = await open(renderInspectPage(inspect(tape, "one.arrow")));
    expect(await shownTotal(page)).toBe(512);
    expect(await page.locator("#axis").isVisible()).toBe(false);
    expect(troubles).toEqual([]);
  });
});

describe("the page of a long recording", () => {
  it("stays small, says what it left out, and is exact where it shows", async () => {
    const tape = new Tape({}, 2 ** 21);
    let storage = 0;
    const stacks = ["a.py:1:f", "b.py:2:g", "c.py:3:h"].map((text) => tape.stacks.id(text));
    for (let step = 1; tape.length < 1_200_000; step++) {
      const first = storage;
      for (let layer = 0; layer < 500; layer++)
        tape.append(
          Action.alloc,
          storage++,
          1024 * (1 + ((layer * step) % 37)),
          0,
          Phase.forward,
          Kind.activation,
          0,
          step,
          stacks[layer % 3]!,
          0,
          tape.length,
        );
      for (let id = storage - 1; id >= first; id--)
        tape.append(Action.free, id, 0, 0, Phase.backward, Kind.activation, 0, step, 0, 0, tape.length);
    }
    const inspection = inspect(tape, "long.arrow");
    const html = renderInspectPage(inspection);
    expect(html.length).toBeLessThan(4_000_000);
    const { page, troubles } = await open(html);
    expect(await page.locator("footer").textContent()).toMatch(/shows [\d,]+ of 1,200,000 events/);
    const box = (await page.locator("#timeline").boundingBox())!;
    await page.mouse.click(box.x + box.width * 0.4, box.y + box.height / 2);
    const { row } = await rangeOf(page);
    expect(await shownTotal(page)).toBe(inspection.allocated[row]);
    expect(await shownSum(page)).toBe(inspection.allocated[row]);
    expect(troubles).toEqual([]);
  });
});

describe("the page of a plan", () => {
  const config = {
    model_type: "gpt2",
    vocab_size: 50257,
    n_positions: 1024,
    n_embd: 256,
    n_layer: 4,
    n_head: 4,
  };

  it("shows verdict, budget, load line and the modules at the peak", async () => {
    const planned = planResult({
      recipe: { ...DEFAULT_RECIPE, model: { name: "tiny <gpt2>", config }, batch: 4, seq: 512 },
      known: true,
      notes: [],
      card: cardOf("2GB"),
      host: null,
    });
    const { result } = planned;
    const { page, troubles } = await open(renderPlanPage(planned));
    expect(await page.locator("h1").textContent()).toMatch(
      result.verdict!.fits ? /^Fits on a/ : /^Does not fit/,
    );
    expect(await page.locator(".file").textContent()).toContain("tiny <gpt2>");
    const shown = await page.locator("[data-component]").count();
    expect(shown).toBe(Object.values(result.budget).filter((bytes) => bytes > 0).length);
    expect(await shownSum(page)).toBe(await shownTotal(page));
    expect((await rangeOf(page)).row).toBe(result.moment.row);
    expect(await page.locator("#flame .box", { hasText: "h[…]" }).count()).toBe(1);
    expect(troubles).toEqual([]);
  });
});

describe("--html", () => {
  it("writes the page beside the printed report", async () => {
    const out = join(emptyFolder(), "memory.html");
    const { code, stdout } = await plimsoll(["inspect", fixture("gpt2-leak.pickle.gz"), "--html", out]);
    expect(code).toBe(1);
    expect(stdout).toContain("Growth: leak");
    expect(readFileSync(out, "utf8")).toMatch(/^<!doctype html>[\s\S]*<\/html>\s*$/);
  });

  it("refuses a place it cannot write to in one line", async () => {
    const out = join(emptyFolder(), "no/such/folder/memory.html");
    const { code, stderr } = await plimsoll(["inspect", fixture("gpt2-frames.pickle.gz"), "--html", out]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^plimsoll: cannot write .*memory\.html: .*\n$/);
  });
});
