import { formatBytes } from "../../base/units.ts";
import type { Fragmentation, InspectResult, Inspection, Leak, OomReport } from "../../inspect/result.ts";
import { count, largestFit, layoutLine, place, shortFile } from "../inspect-text.ts";
import { pageDocument } from "./document.ts";
import { html, type Markup } from "./markup.ts";
import { pageData } from "./page-data.ts";
import {
  bar,
  bytesCell,
  type Finding,
  headingPanel,
  notesPanel,
  picturePanels,
  share,
  type Tile,
} from "./panels.ts";

/** What the page tells in words; the rest is in --json. */
const MOST_LEAKS = 8;

const STEP_ROWS = 40;

/** A snapshot or tape as one file for a browser. */
export function renderInspectPage(inspection: Inspection): string {
  const { result, tape, lives, allocated, reserved } = inspection;
  const { peak, ooms } = result;
  const data = pageData({
    tape,
    lives,
    allocated,
    reserved,
    flags: [
      { row: peak.row, label: `peak ${formatBytes(peak.allocated)}`, what: "peak" },
      ...ooms.map((oom) => ({
        row: oom.row,
        label: `out of memory: ${formatBytes(oom.asked)} asked for`,
        what: "oom" as const,
      })),
    ],
    limit: null,
    predicted: tape.info.source === "plan",
  });
  const body = html`${headingPanel({
      command: "inspect",
      subject: result.file,
      verdict: verdict(result),
      tone: isBad(result) ? "bad" : result.growth.verdict === "steady" ? "good" : "",
      tiles: tiles(result),
      findings: findings(result),
    })}
    <main>
      ${tape.length > 0 ? picturePanels(tape.columns.time[tape.length - 1]! > tape.columns.time[0]!, tape.info.source === "plan") : null}
      <div class="two">${growthPanel(result)}${phasePanel(result)}</div>
    </main>
    ${notesPanel(notes(result, data.reduced))}`;
  return pageDocument(`${baseName(result.file)}: ${verdict(result)}`, body, data.bytes);
}

const baseName = (file: string): string => file.replace(/^.*[\\/]/, "");

const isBad = ({ growth, ooms }: InspectResult): boolean => growth.verdict === "leak" || ooms.length > 0;

function verdict({ growth, ooms, peak }: InspectResult): string {
  const parts: string[] = [];
  const oom = ooms.at(-1);
  if (oom) {
    parts.push(
      `Out of memory: ${formatBytes(oom.asked)} asked for, ${formatBytes(oom.short)} short${oom.cause === "fragmented" ? " in one piece" : ""}`,
    );
  }
  const leaked = growth.leaks.reduce((sum, leak) => sum + leak.perStep, 0);
  if (growth.verdict === "leak") parts.push(`Leak: ${formatBytes(leaked)} more every step`);
  if (parts.length === 0 && growth.verdict === "steady")
    parts.push("Steady: nothing grows from step to step");
  if (parts.length === 0) parts.push(`${formatBytes(peak.allocated)} at the peak`);
  return parts.join("; ");
}

function when(step: number, phase: string): string {
  return [step > 0 ? `step ${step}` : "", phase === "unknown" ? "" : phase].filter(Boolean).join(", ");
}

function tiles(result: InspectResult): Tile[] {
  const { peak, reservedPeak, fragmentationAtPeak: layout } = result;
  const made: Tile[] = [
    { name: "peak allocated", value: formatBytes(peak.allocated), note: when(peak.step, peak.phase) },
  ];
  if (reservedPeak.bytes > 0) {
    made.push({
      name: "peak reserved",
      value: formatBytes(reservedPeak.bytes),
      note: layout ? `${share(layout.free, layout.reserved)} of it free` : "",
    });
  }
  const largest = peak.byKind[0];
  if (largest && largest.label !== "unknown") {
    made.push({
      name: "most of the peak",
      value: share(largest.bytes, peak.allocated),
      note: `${largest.label}, ${formatBytes(largest.bytes)}`,
    });
  }
  made.push(
    { name: "events", value: result.events.toLocaleString("en"), note: `device ${result.device}` },
    {
      name: "steps",
      value: String(result.steps),
      note:
        result.steps === 0
          ? "none seen"
          : result.growth.verdict === "unknown"
            ? "too few to tell growth"
            : "",
    },
  );
  return made;
}

function findings(result: InspectResult): Finding[] {
  const found: Finding[] = [
    ...result.ooms.map((oom, at) => oomFinding(oom, at + 1)),
    ...result.growth.leaks.slice(0, MOST_LEAKS).map(leakFinding),
  ];
  const site = result.peak.bySite[0];
  if (site && result.peak.allocated > 0) {
    const at = when(result.peak.step, result.peak.phase);
    found.push({
      tone: "plain",
      title: `The peak, ${formatBytes(result.peak.allocated)}${at === "" ? "" : `, comes in ${at}`}`,
      flag: 0,
      lines: [
        `${result.peak.byKind
          .slice(0, 4)
          .map((one) => `${formatBytes(one.bytes)} ${one.label}`)
          .join(", ")}.`,
        ...(site.allocation
          ? [
              html`Most at one place: ${formatBytes(site.bytes)} (${share(site.bytes, result.peak.allocated)})
                in ${count(site.count, "storage")} from <code>${place(site)}</code>`,
            ]
          : []),
      ],
    });
  }
  if (result.growth.verdict === "steady")
    found.push({ tone: "fine", title: "Nothing grows from step to step", lines: [] });
  const { fragmentationAtPeak: atPeak, fragmentation: end } = result;
  if (atPeak && atPeak.reserved > 0) found.push(fragmentationFinding(atPeak, end));
  return found;
}

function oomFinding(oom: OomReport, flag: number): Finding {
  const { layout } = oom;
  const at = when(oom.step, oom.phase);
  return {
    tone: "alarm",
    title: `Out of memory: ${formatBytes(oom.asked)} asked for${at === "" ? "" : ` in ${at}`}`,
    flag,
    lines: [
      ...(oom.site.allocation ? [html`asked for at <code>${place(oom.site)}</code>`] : []),
      `${formatBytes(layout.active)} was in live blocks of ${formatBytes(layout.reserved)} reserved; ${formatBytes(layout.free)} was free in ${count(layout.freeBlocks, "piece")}, the largest ${formatBytes(layout.largestFree)}.`,
      oom.cause === "fragmented"
        ? `Fragmented: enough was free, but in pieces; the largest falls ${formatBytes(oom.short)} short. Try: plimsoll replay FILE --sweep`
        : `Full: even in one piece the free bytes fall ${formatBytes(oom.short)} short. A request of up to ${formatBytes(largestFit(oom))} would have fitted.`,
      ...(oom.capped && oom.deviceFree !== null
        ? [
            `The device itself had ${formatBytes(oom.deviceFree)} free: a limit on this process (memory fraction) refused, not the card.`,
          ]
        : []),
      `Held by: ${oom.byKind
        .slice(0, 4)
        .map((one) => `${formatBytes(one.bytes)} ${one.label}`)
        .join(", ")}.`,
    ],
  };
}

function leakFinding(leak: Leak): Finding {
  const site = leak.sites[0];
  return {
    tone: "alarm",
    title: `Leak: ${formatBytes(leak.perStep)} more a step, ${formatBytes(leak.held)} held by ${count(leak.count, "storage")} after step ${leak.heldByStep.length}`,
    lines: [
      leak.user
        ? html`your line: <code>${shortFile(leak.user.file)}:${leak.user.line}</code> in
            <code>${leak.user.function}</code>`
        : "No Python frames were recorded for it.",
      ...(site?.allocation
        ? [
            html`allocated at <code>${shortFile(site.allocation.file)}:${site.allocation.line}</code> in
              <code>${site.allocation.function}</code>: ${site.kind}, ${site.count} ×
              ${formatBytes(site.largest)}`,
          ]
        : []),
      ...(leak.user
        ? [
            "What that line made outlives its step: a list, dict, attribute or closure still holds it. Drop it, keep a number (.item()), or keep a detached copy on the CPU.",
          ]
        : []),
    ],
  };
}

function fragmentationFinding(atPeak: Fragmentation, end: Fragmentation | null): Finding {
  return {
    tone: "plain",
    title: `Fragmentation: ${share(atPeak.free, atPeak.reserved)} of the reserved bytes were free where reserved was highest`,
    lines: [`There: ${layoutLine(atPeak)}.`, ...(end ? [`At the end: ${layoutLine(end)}.`] : [])],
  };
}

function growthPanel({ growth }: InspectResult): Markup {
  const shown = growth.steps.slice(-STEP_ROWS);
  const left = growth.steps.length - shown.length;
  const most = Math.max(1, ...shown.map((step) => step.peak));
  return html`<section aria-labelledby="h-growth">
    <div class="head"><h2 id="h-growth">From step to step</h2></div>
    ${
      shown.length === 0
        ? html`<p class="soft">No training steps were seen.</p>`
        : html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th>step</th>
                  <th class="number">peak</th>
                  <th class="number">at its end</th>
                  <th class="number">growth</th>
                </tr>
              </thead>
              <tbody>
                ${
                  left > 0
                    ? html`<tr>
                        <td colspan="4" class="soft">… ${count(left, "earlier step")}</td>
                      </tr>`
                    : null
                }
                ${shown.map(
                  (step) =>
                    html`<tr>
                      <td>${step.step}${bar(step.atEnd / most)}</td>
                      ${bytesCell(step.peak)}${bytesCell(step.atEnd)}${bytesCell(step.growth)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
    ${growth.leaks.slice(0, MOST_LEAKS).map((leak) => leakTable(leak))}
    ${shareList("Kept since the first step, as expected", growth.warmUp)}
    ${shareList("Still in scope from the last step", growth.lastStep)}
  </section>`;
}

function leakTable(leak: Leak): Markup {
  const last = leak.heldByStep.slice(-STEP_ROWS);
  const first = leak.heldByStep.length - last.length + 1;
  return html`<h3>
      Held by
      ${leak.user ? html`<code>${shortFile(leak.user.file)}:${leak.user.line}</code>` : "storages without frames"},
      after each step
    </h3>
    <table>
      <tbody>
        ${last.map(
          (held, at) =>
            html`<tr>
              <td>${first + at}${bar(held / Math.max(1, leak.held), "k-gradient")}</td>
              ${bytesCell(held)}
            </tr>`,
        )}
      </tbody>
    </table>`;
}

function shareList(title: string, shares: InspectResult["growth"]["warmUp"]): Markup | null {
  if (shares.length === 0) return null;
  return html`<h3>${title}</h3>
    <p class="what">${shares.map((one) => `${formatBytes(one.bytes)} ${one.label}`).join(", ")}</p>`;
}

function phasePanel({ phasePeaks, peak }: InspectResult): Markup {
  return html`<section aria-labelledby="h-phases">
    <div class="head"><h2 id="h-phases">Highest in each phase</h2></div>
    <div class="scroll">
      <table>
        <tbody>
          ${phasePeaks.map(
            (one) =>
              html`<tr>
                <td>${one.phase}${bar(one.bytes / Math.max(1, peak.allocated))}</td>
                ${bytesCell(one.bytes)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <h3>Most at the peak, by line</h3>
    <div class="scroll">
      <table>
        <tbody>
          ${peak.bySite.slice(0, 12).map(
            (site) =>
              html`<tr>
                <td>
                  <div class="what">${site.kind} · <code>${place(site)}</code></div>
                  ${bar(site.bytes / Math.max(1, peak.allocated), `k-${site.kind.replaceAll(" ", "-")}`)}
                </td>
                ${bytesCell(site.bytes)}
                <td class="number">${share(site.bytes, peak.allocated)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

function notes(result: InspectResult, reduced: readonly string[]): string[] {
  return [
    "Allocated bytes are those requested; reserved are what PyTorch's caching allocator took from the device. 1 GB is 10⁹ bytes.",
    ...(result.truncated
      ? [
          "The recording's beginning is missing (ring buffer full): what was allocated before may have no stack.",
        ]
      : []),
    ...(result.frames
      ? []
      : ['No Python stacks were recorded: record with stacks="python" to see lines, modules and kinds.']),
    ...(result.allocConf === "" ? [] : [`Allocator settings: ${result.allocConf}`]),
    ...(result.growth.leaks.length > MOST_LEAKS
      ? [`${count(result.growth.leaks.length - MOST_LEAKS, "smaller leak")} are left to --json.`]
      : []),
    ...(reduced.length > 0 ? reduced : ["Every recorded event is in this page; nothing was left out."]),
    "One file, no network: it can be mailed, archived and opened anywhere.",
  ];
}
