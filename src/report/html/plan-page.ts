import { type Bytes, formatBytes } from "../../base/units.ts";
import { COMPONENTS, type Component } from "../../plan/budget.ts";
import type { Planned, PlanResult } from "../../plan/result.ts";
import { allocatedCurve } from "../../tape/curve.ts";
import { lifetimes } from "../../tape/lifetimes.ts";
import { article } from "../plan-text.ts";
import { formatCount, recipeWords } from "../plan-words.ts";
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

/** A prediction as one file for a browser. */
export function renderPlanPage({ result, plan: { tape, reserved } }: Planned): string {
  const { verdict, moment, model, peak } = result;
  const lives = lifetimes(tape);
  const data = pageData({
    tape,
    lives,
    allocated: allocatedCurve(tape, lives),
    reserved,
    flags: [{ row: moment.row, label: `peak ${formatBytes(peak.allocated)}: ${moment.when}`, what: "peak" }],
    limit: verdict ? verdict.usable : null,
    predicted: true,
  });
  const body = html`${headingPanel({
      command: "plan",
      subject: `${model.name} (${model.type}), ${formatCount(model.parameters)} parameters: ${recipeWords(result)}`,
      verdict: headline(result),
      tone: verdict ? (verdict.fits ? "good" : "bad") : "",
      tiles: tiles(result),
      findings: findings(result),
    })}
    <main>
      <div class="two">${budgetPanel(result)}${leverPanel(result)}</div>
      ${picturePanels(false, true)}
    </main>
    ${notesPanel([
      "A prediction: forward, loss, backward and optimizer step were executed on shapes; no GPU, no weights. 1 GB is 10⁹ bytes.",
      "The timeline counts bytes as requested; the peak above counts them as PyTorch does, rounded up to whole blocks.",
      ...result.notes,
      ...data.reduced,
      "One file, no network: it can be mailed, archived and opened anywhere.",
    ])}`;
  return pageDocument(`${model.name}: ${headline(result)}`, body, data.bytes);
}

function headline({ verdict, card, peak }: PlanResult): string {
  if (!verdict || !card) return `Needs ${formatBytes(peak.reserved)}, and the CUDA context`;
  return verdict.fits
    ? `Fits on ${article(card.name)} with ${formatBytes(verdict.spare)} to spare`
    : `Does not fit on ${article(card.name)}: short by ${formatBytes(-verdict.spare)}`;
}

function tiles({ peak, verdict, budget }: PlanResult): Tile[] {
  const largest = [...COMPONENTS].sort((a, b) => budget[b] - budget[a])[0]!;
  return [
    { name: "peak allocated", value: formatBytes(peak.allocated), note: "handed out to tensors" },
    { name: "peak reserved", value: formatBytes(peak.reserved), note: "held by the allocator" },
    ...(verdict
      ? [
          {
            name: "usable on the card",
            value: formatBytes(verdict.usable),
            note: "its memory less the CUDA context",
          },
        ]
      : []),
    { name: "largest part", value: formatBytes(budget[largest]), note: largest },
  ];
}

const percent = (part: number): string => `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)} %`;

function findings(result: PlanResult): Finding[] {
  const { moment, phases, verdict, band, host, peak } = result;
  const found: Finding[] = [
    {
      tone: verdict && !verdict.fits ? "alarm" : "plain",
      title: `The binding moment: ${moment.when}`,
      flag: 0,
      lines: [
        `${moment.parts
          .slice(0, 4)
          .map((part) => `${formatBytes(part.bytes)} ${part.what}`)
          .join(
            ", ",
          )}; ${formatBytes(moment.standing)} stays throughout. Only what shrinks this moment lowers the peak.`,
        `Highest in each phase: ${phases.map((one) => `${one.phase} ${formatBytes(one.allocated)}`).join(", ")}.`,
      ],
    },
  ];
  if (verdict?.fits && verdict.retries > 0) {
    found.push({
      tone: "plain",
      title: "Tight: it fits by giving back cached memory",
      lines: [
        `Unlimited it would reserve ${formatBytes(peak.reserved)}; under the limit the allocator retries ${verdict.retries === 1 ? "once" : `${verdict.retries} times`}.`,
      ],
    });
  }
  if (host) {
    found.push({
      tone: host.verdict && !host.verdict.fits ? "alarm" : "plain",
      title: `Host memory: ${formatBytes(host.total)} beside the process itself`,
      lines: host.verdict
        ? [
            host.verdict.fits
              ? `Fits with ${formatBytes(host.verdict.spare)} to spare.`
              : `Short by ${formatBytes(-host.verdict.spare)}.`,
          ]
        : [],
    });
  }
  found.push({
    tone: "plain",
    title: `Error band: nine in ten within ${percent(band.allocated.p90)} of allocated, ${percent(band.reserved.p90)} of reserved`,
    lines: [
      `From ${band.runs} measured runs (${band.kind}); the worst ${percent(band.allocated.worst)} and ${percent(band.reserved.worst)}${band.widened === "" ? "" : ` (widened: ${band.widened})`}.`,
    ],
  });
  return found;
}

/** The kind whose colour a component has on the timeline. */
const COLOUR: Readonly<Record<Component, string>> = {
  weights: "k-weight",
  adapters: "k-adapter",
  gradients: "k-gradient",
  "optimizer state": "k-optimizer-state",
  "saved activations": "k-activation",
  loss: "k-activation",
  workspace: "k-workspace",
  temporary: "k-temporary",
  fragmentation: "k-unknown",
  "outside PyTorch": "k-unknown",
};

function budgetPanel({ budget }: PlanResult): Markup {
  const parts = COMPONENTS.map((name) => ({ name, bytes: budget[name] })).filter(({ bytes }) => bytes > 0);
  const total: Bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  return html`<section aria-labelledby="h-budget">
    <div class="head"><h2 id="h-budget">Budget at the peak</h2></div>
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>component</th>
            <th class="number">bytes</th>
            <th class="number">share</th>
          </tr>
        </thead>
        <tbody>
          ${parts.map(
            ({ name, bytes }) =>
              html`<tr data-component="${name}">
                <td>${name}${bar(bytes / total, COLOUR[name])}</td>
                ${bytesCell(bytes)}
                <td class="number">${share(bytes, total)}</td>
              </tr>`,
          )}
          <tr>
            <td><b>on the card</b></td>
            ${bytesCell(total)}
            <td class="number">100.0%</td>
          </tr>
        </tbody>
      </table>
    </div>
  </section>`;
}

function leverPanel({ levers, peak, verdict }: PlanResult): Markup {
  const helping = levers.filter((lever) => lever.reserved < peak.reserved);
  return html`<section aria-labelledby="h-levers">
    <div class="head"><h2 id="h-levers">One lever alone</h2></div>
    ${
      helping.length === 0
        ? html`<p class="soft">None of the levers tried lowers this peak by itself.</p>`
        : html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th>lever</th>
                  <th class="number">reserved at the peak</th>
                  <th class="number">saves</th>
                </tr>
              </thead>
              <tbody>
                ${helping.map(
                  ({ name, cost, reserved, fits }) =>
                    html`<tr>
                      <td>
                        ${name}${verdict && fits ? html` <b class="good">fits</b>` : null}
                        <div class="soft what">${cost}</div>
                        ${bar(reserved / peak.reserved)}
                      </td>
                      ${bytesCell(reserved)}${bytesCell(peak.reserved - reserved)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}
