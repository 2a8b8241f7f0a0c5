import { formatBytes } from "../../base/units.ts";
import type { Advice } from "../../monitor/advice.ts";
import { fullestRank } from "../../monitor/advice.ts";
import type { Alert } from "../../monitor/alerts.ts";
import type { Record } from "../../monitor/record.ts";
import type { RunFile } from "../../monitor/run-folder.ts";
import type { RankSummary, RunSummary } from "../../monitor/summary.ts";
import { ending, oomText } from "../run-text.ts";
import { pageDocument } from "./document.ts";
import { CHART_STYLE, type Flag, lineChart } from "./line-chart.ts";
import { html, type Markup } from "./markup.ts";
import { bytesCell, type Finding, headingPanel, notesPanel, type Tile } from "./panels.ts";

export interface RunPage {
  readonly folder: string;
  readonly run: RunFile;
  readonly summary: RunSummary;
  readonly advice: Advice | null;
  readonly alerts: readonly Alert[];
  readonly records: readonly Record[];
}

/** Ranks with a picture of their own; the table has them all. */
const PICTURES = 8;

/** A recorded run as one file for a browser, without a script. */
export function renderRunPage(page: RunPage): string {
  const { run, summary, records, folder } = page;
  const drawn = records.filter((record) => record.steps > 0).slice(0, PICTURES);
  const body = html`${headingPanel({
      command: "run",
      subject: `${run.command.join(" ")}  (${folder})`,
      verdict: verdict(page),
      tone: summary.leaks.length > 0 || summary.ooms.length > 0 ? "bad" : run.exit === 0 ? "good" : "",
      tiles: tiles(summary),
      findings: findings(page),
    })}
    <main>
      ${drawn.map((record) => pictures(record, summary, drawn.length > 1))} ${ranksPanel(summary)}
      ${linesPanel(summary)}
    </main>
    ${notesPanel(notes(page, records.length - drawn.length))}`;
  return pageDocument(`${run.name}: ${verdict(page)}`, body, null, CHART_STYLE);
}

function verdict({ run, summary }: RunPage): string {
  const parts: string[] = [];
  const oom = summary.ooms.at(-1);
  if (oom) parts.push(`Out of memory at step ${oom.step ?? 0}`);
  for (const leak of summary.leaks.slice(0, 2))
    parts.push(
      `Leak: ${leak.file ? `${baseName(leak.file)}:${leak.line}` : leak.held} keeps ${formatBytes(leak.per_step)} a step`,
    );
  if (parts.length === 0) parts.push(ending(run));
  return parts.join("; ");
}

const baseName = (file: string): string => file.replace(/^.*[\\/]/, "");

function tiles(summary: RunSummary): Tile[] {
  const rank = fullestRank(summary);
  if (!rank) return [{ name: "steps", value: "0", note: "none seen" }];
  const made: Tile[] = [
    {
      name: "steps",
      value: rank.steps.toLocaleString("en"),
      note: `${rank.stepsPerSecond.toPrecision(3)} a second`,
    },
  ];
  if (rank.total > 0)
    made.push(
      {
        name: "peak allocated",
        value: formatBytes(rank.peakAllocated),
        note: `first at step ${rank.peakStep}`,
      },
      {
        name: "peak reserved",
        value: formatBytes(rank.peakReserved),
        note: `of ${formatBytes(rank.total)}, ${Math.round(rank.fragmentation * 100)} % unused there`,
      },
    );
  made.push(
    { name: "growth", value: formatBytes(rank.growthPer100Steps), note: "in 100 steps" },
    {
      name: "process memory",
      value: formatBytes(rank.hostPeak),
      note: rank.workersPeak > 0 ? `and ${formatBytes(rank.workersPeak)} in children` : "",
    },
  );
  if (rank.total > 0) made.push({ name: "retries", value: String(rank.retries), note: "" });
  return made;
}

function findings({ summary, advice, alerts }: RunPage): Finding[] {
  return [
    ...summary.leaks.map((leak): Finding => ({
      tone: "alarm",
      title: `Leak: ${formatBytes(leak.per_step)} a step, named at step ${leak.step}, confidence ${leak.confidence}`,
      lines: [
        leak.file
          ? html`<code>${leak.file}:${leak.line ?? 0}</code> <code>${leak.text}</code>`
          : "No line of yours.",
        `It keeps ${leak.tensor} alive through ${leak.held}; ${leak.why}.`,
        ...(leak.allocated_at ?? []).map(
          (place) =>
            html`${formatBytes(place.bytes)} of it allocated at <code>${place.file}:${place.line}</code>
              <code>${place.text}</code>`,
        ),
      ],
    })),
    ...summary.ooms.map((oom): Finding => {
      const [title, ...lines] = oomText(oom, advice);
      return { tone: "alarm", title: title!.replace(/^o/, "O"), lines };
    }),
    ...alerts
      .filter((alert) => alert.rule !== "leak")
      .map((alert): Finding => ({
        tone: "plain",
        title: `Alert at step ${alert.step}, rank ${alert.rank}: ${alert.message}`,
        lines: [alert.advice],
      })),
    ...(advice?.todo ?? []).map((text, index): Finding => ({
      tone: "plain",
      title: `Worth doing, ${index + 1}: ${text}`,
      lines: [],
    })),
    ...(summary.leaks.length === 0 && summary.ooms.length === 0
      ? [{ tone: "fine", title: "No leak was found and memory did not run out", lines: [] } as const]
      : []),
  ];
}

function pictures(record: Record, summary: RunSummary, several: boolean): Markup {
  const head = record.head!;
  const steps = record.column("step");
  const flags: Flag[] = [
    ...summary.leaks
      .filter((leak) => leak.rank === head.rank)
      .map((leak) => ({ step: leak.step, label: `leak named, step ${leak.step}` })),
    ...summary.ooms
      .filter((oom) => oom.rank === head.rank)
      .map((oom) => ({ step: oom.step ?? 0, label: `out of memory, step ${oom.step ?? 0}` })),
  ];
  const onGpu = head.device !== undefined;
  const name = several ? `, rank ${head.rank} on ${head.host}` : "";
  return html`<section>
    <div class="head"><h2>Memory behind each step${name}</h2></div>
    ${lineChart({
      title: `Memory over ${record.steps} steps${name}`,
      steps,
      lines: onGpu
        ? [
            { name: "reserved", kind: "reserved", values: record.column("reserved") },
            { name: "highest allocated so far", kind: "peak", values: record.column("peak") },
            { name: "allocated at rest", kind: "allocated", values: record.column("allocated") },
          ]
        : [{ name: "malloc'd at rest", kind: "allocated", values: record.column("heap") }],
      limit: head.device?.total ?? null,
      flags,
      format: formatBytes,
    })}
    <h3>Time of a step</h3>
    ${lineChart({
      title: `Seconds of each step${name}`,
      steps: steps.subarray(1),
      lines: [{ name: "seconds", kind: "seconds", values: record.column("seconds").subarray(1) }],
      limit: null,
      flags: [],
      format: (value) => (value < 1 ? `${(1000 * value).toPrecision(3)} ms` : `${value.toPrecision(3)} s`),
    })}
  </section>`;
}

function ranksPanel({ ranks }: RunSummary): Markup {
  const row = (rank: RankSummary): Markup =>
    html`<tr>
      <td>${rank.rank} on ${rank.host}${rank.device ? `, ${rank.device}` : ""}</td>
      <td class="number">${rank.steps.toLocaleString("en")}</td>
      <td class="number">${(1000 * rank.medianStep).toPrecision(3)} ms</td>
      ${bytesCell(rank.peakAllocated)}${bytesCell(rank.peakReserved)}${bytesCell(rank.hostPeak)}
      <td class="number">
        ${Object.entries(rank.shares)
          .filter(([, share]) => share >= 0.01)
          .map(([phase, share]) => `${phase} ${Math.round(share * 100)} %`)
          .join(", ")}
      </td>
    </tr>`;
  return html`<section>
    <div class="head"><h2>Ranks</h2></div>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>rank</th>
            <th class="number">steps</th>
            <th class="number">median step</th>
            <th class="number">allocated</th>
            <th class="number">reserved</th>
            <th class="number">process</th>
            <th class="number">time in</th>
          </tr>
        </thead>
        <tbody>
          ${ranks.map(row)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function linesPanel({ waits, copies }: RunSummary): Markup | null {
  if (waits.length + copies.length === 0) return null;
  return html`<section>
    <div class="head"><h2>Waits and copies a step, by line</h2></div>
    <table>
      <tbody>
        ${[...waits, ...copies].map(
          (one) =>
            html`<tr>
              <td><code>${one.file}:${one.line}</code> <code>${one.text}</code></td>
              <td class="number">${one.to === "" ? "waits" : `${one.from} → ${one.to}`}</td>
              <td class="number">${one.per_step}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function notes({ summary, records }: RunPage, left: number): string[] {
  const thinned = records.some((record) => record.column("step").length < record.steps);
  return [
    "At rest: behind the optimizer step, where activations are gone. 1 GB is 10⁹ bytes.",
    ...(thinned ? ["The pictures show evenly spread steps of a long run; peaks and totals are of all."] : []),
    ...(left > 0 ? [`${left} more ranks are in the table only.`] : []),
    ...(summary.growths > 0 ? [`Growth was looked into ${summary.growths} times and is no leak.`] : []),
  ];
}
