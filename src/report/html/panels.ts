import type { Bytes } from "../../base/units.ts";
import { formatBytes } from "../../base/units.ts";
import { html, Markup } from "./markup.ts";

export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

export interface Finding {
  readonly tone: "alarm" | "fine" | "plain";
  /** The sentence that must be read, then what explains it. */
  readonly title: string;
  readonly lines: readonly (string | Markup)[];
  /** Which of the timeline's flags it is about. */
  readonly flag?: number;
}

export interface Heading {
  readonly command: string;
  readonly subject: string;
  readonly verdict: string;
  readonly tone: "good" | "bad" | "";
  readonly tiles: readonly Tile[];
  readonly findings: readonly Finding[];
}

/** The load line, drawn: few fonts have U+29B5. */
const MARK = html`<svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
  <circle cx="10" cy="10" r="6" />
  <path d="M0 10h20" />
</svg>`;

export function headingPanel(heading: Heading): Markup {
  return html`<header>
    <div class="brand">
      <span>${MARK}<b>plimsoll</b> ${heading.command}</span>
    </div>
    <h1 class="${heading.tone}">${heading.verdict}</h1>
    <p class="file mono">${heading.subject}</p>
    <dl class="tiles">
      ${heading.tiles.map(
        ({ name, value, note }) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}${note === "" ? null : html`<small>${note}</small>`}</dd>
          </div>`,
      )}
    </dl>
    <ul class="findings">
      ${heading.findings.map(
        ({ tone, title, lines, flag }) =>
          html`<li class="${tone}">
            <b>${title}</b>
            ${
              flag === undefined
                ? null
                : html`<button type="button" class="plain controls" data-flag="${flag}">
                    show on the timeline
                  </button>`
            }
            ${lines.map((line) => html`<p>${line}</p>`)}
          </li>`,
      )}
    </ul>
  </header>`;
}

/** A bar that needs neither script nor inline style. */
export function bar(part: number, kind = ""): Markup {
  const width = Math.min(100, Math.max(part > 0 ? 0.5 : 0, part * 100)).toFixed(2);
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect class="${kind}" width="${width}" height="1" />
  </svg>`;
}

export const share = (bytes: Bytes, total: Bytes): string =>
  `${total > 0 ? ((100 * bytes) / total).toFixed(1) : "0.0"}%`;

export const bytesCell = (bytes: Bytes): Markup => html`<td class="number">${formatBytes(bytes)}</td>`;

/** What the script fills: timeline, make-up, flame graph. Without a script it says so. */
export function picturePanels(timed: boolean, predicted: boolean): Markup {
  return html`<div id="trouble"></div>
    <noscript
      ><p class="trouble">
        The timeline and the flame graph need JavaScript; the tables below do not.
      </p></noscript
    >
    <section aria-labelledby="h-timeline">
      <div class="head">
        <h2 id="h-timeline">Timeline</h2>

        <div class="push controls">
          <label ${timed ? null : new Markup("hidden")}
            >over
            <select id="axis">
              <option value="events">events</option>
              ${timed ? html`<option value="time">time</option>` : null}
            </select></label
          >
          <button type="button" id="zoom-in" aria-label="zoom in">+</button
          ><button type="button" id="zoom-out" aria-label="zoom out">−</button>
          <button type="button" id="zoom-all">whole</button><button type="button" id="zoom-peak">peak</button>
        </div>
      </div>
      <ul id="legend" aria-label="colours"></ul>
      <div class="chart">
        <canvas
          id="timeline"
          tabindex="0"
          role="application"
          aria-label="Memory over ${predicted ? "the predicted" : "the recorded"} events. Arrow keys pan and zoom, comma and full stop select the event before and after, p the peak."
        ></canvas>
        <div id="tip" hidden></div>
      </div>
      <div class="chart whole">
        <canvas id="overview" aria-hidden="true"></canvas>
        <div id="window"></div>
      </div>
      <p class="keys">
        Wheel or <kbd>↑</kbd> <kbd>↓</kbd> zoom, drag or <kbd>←</kbd> <kbd>→</kbd> pan, <kbd>shift</kbd>+drag
        marks a range, click selects a moment, <kbd>,</kbd> <kbd>.</kbd> the event before and after,
        <kbd>p</kbd> the peak, <kbd>0</kbd> the whole. Each column of pixels shows the highest of its moments;
        the pale line is the lowest.
      </p>
    </section>
    <section aria-labelledby="h-makeup">
      <div class="head">
        <h2 id="h-makeup">What is live then</h2>
        <div class="push controls" id="makeup-tabs" role="group" aria-label="group by">
          <button type="button" data-by="kind">kind</button
          >${predicted ? null : html`<button type="button" data-by="line">line</button>`}<button
            type="button"
            data-by="module"
          >
            module</button
          ><button type="button" data-by="size">size</button
          ><button type="button" data-by="phase">phase</button>
        </div>
      </div>
      <p id="instant" aria-live="polite"></p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th>what</th>
              <th class="number">bytes</th>
              <th class="number">share</th>
              <th class="number">storages</th>
            </tr>
          </thead>
          <tbody id="makeup"></tbody>
        </table>
      </div>
    </section>
    <section aria-labelledby="h-flame">
      <div class="head">
        <h2 id="h-flame">Flame graph of the selected moment</h2>
        <div class="push controls">
          <label
            >by
            <select id="flame-by">
              <option value="stack">stack</option>
              <option value="module">module</option>
            </select></label
          >
          <label title="torch's own frames too, and each layer by itself"
            ><input type="checkbox" id="flame-full" />in full</label
          >
          <input
            type="search"
            id="flame-search"
            placeholder="find a frame"
            aria-label="find in the flame graph"
          /><span id="flame-found" role="status"></span>
          <button type="button" id="flame-reset" disabled>zoom out</button>
        </div>
      </div>
      <div id="flame"></div>
      <p id="flame-detail" aria-live="polite"></p>
    </section>`;
}

export function notesPanel(notes: readonly string[]): Markup {
  return html`<footer>
    <h3>About this page</h3>
    <ul class="notes">
      ${notes.map((note) => html`<li>${note}</li>`)}
    </ul>
  </footer>`;
}
