import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { launchBrowser } from "../support/browser.ts";
import { plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const GB = 1e9;

/** 5,000 steps that leak from the 4,000th on and end out of memory; names that would be markup. */
function recorded(): string {
  const folder = join(emptyFolder(), "run");
  mkdirSync(folder);
  const run = {
    version: 1,
    name: "<b>run</b>",
    command: ["python", "<i>.py"],
    cwd: "/",
    host: "h",
    plimsoll: "0",
  };
  writeFileSync(join(folder, "run.json"), JSON.stringify({ ...run, started: "", rules: ["reserved>50%"] }));
  const columns = ["step", "seconds", "allocated", "reserved", "peak", "retries"];
  const device = { index: 0, name: "Card", total: 24 * GB, uuid: "u" };
  const leak = {
    k: "leak",
    t: 1,
    step: 4020,
    file: "/a/<script>alert(1)</script>.py",
    line: 7,
    text: "kept.append(x)",
    held: "global `kept`",
    tensor: "float32 8",
    why: "one more each time",
    per_step: 4096,
    confidence: 0.9999,
  };
  const oom = {
    k: "oom",
    t: 2,
    step: 5000,
    phase: "forward",
    asked: 2 * GB,
    free: 0,
    total: 24 * GB,
    reserved: 20 * GB,
  };
  const rows = Array.from({ length: 5000 }, (_, at) => {
    const allocated = 8 * GB + Math.max(0, at - 4000) * 10e6;
    return [at + 1, 0.1, allocated, allocated + GB, allocated, 0];
  });
  const lines = [{ k: "head", rank: 0, host: "h", t: 0, columns, device }, ...rows, leak, oom];
  writeFileSync(join(folder, "rank-0-h-1.jsonl"), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return folder;
}

test("inspect RUN --html: one file that asks for nothing, with timeline, leak, out-of-memory and alerts", async () => {
  const file = join(emptyFolder(), "run.html");
  const { code, stdout } = await plimsoll(["inspect", recorded(), "--html", file]);
  expect(code).toBe(1);
  expect(stdout).toContain("out of memory at step 5000");
  expect(readFileSync(file, "utf8")).not.toMatch(/<script/);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const troubles: string[] = [];
  page.on("console", (message) => troubles.push(message.text()));
  page.on("request", (request) => request.url() === pathToFileURL(file).href || troubles.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  expect(await page.locator("h1").textContent()).toMatch(
    /^Out of memory at step 5000; Leak: .*:7 keeps 4\.10 kB a step$/,
  );
  const said = await page.locator(".findings").textContent();
  expect(said).toContain("<script>alert(1)</script>.py:7");
  expect(said).toContain("reserved is 83 %, over 50 %");
  // The picture climbs: its last point stands higher (a smaller y) than its first.
  const path = (await page.locator("path.l-allocated").first().getAttribute("d"))!;
  const heights = path
    .slice(1)
    .split("L")
    .map((point) => Number(point.split(" ")[1]));
  expect(heights.length).toBeGreaterThan(100);
  expect(heights.at(-1)).toBeLessThan(heights[0]! - 50);
  expect(await page.locator("text.flag").allTextContents()).toEqual([
    "leak named, step 4020",
    "out of memory, step 5000",
  ]);
  expect(troubles).toEqual([]);
});
