import { html, type Markup } from "./markup.ts";

/** Points of a picture a thousand units wide: no screen shows more. */
const BINS = 500;
const WIDTH = 1000;
const HEIGHT = 260;
const LEFT = 74;
const BOTTOM = 24;
const RULES = 4;

export interface Line {
  readonly name: string;
  /** A class of CHART_STYLE. */
  readonly kind: "allocated" | "reserved" | "peak" | "seconds";
  readonly values: Float64Array;
}

export interface Flag {
  readonly step: number;
  readonly label: string;
}

export interface Chart {
  readonly title: string;
  /** The step of each value. */
  readonly steps: Float64Array;
  readonly lines: readonly Line[];
  /** A level to draw across, such as the card's memory. */
  readonly limit: number | null;
  readonly flags: readonly Flag[];
  readonly format: (value: number) => string;
}

export const CHART_STYLE = `
figure { margin: 0; } figcaption { font-size: 12.5px; } figcaption .swatch { margin-left: 10px; }
svg.lines { display: block; width: 100%; height: auto; font: 11px var(--mono); }
svg.lines text { fill: var(--soft); }
svg.lines path { fill: none; stroke-width: 1.6; vector-effect: non-scaling-stroke; }
svg.lines .grid { stroke: var(--grid); } svg.lines .limit { stroke: var(--alert); stroke-dasharray: 6 4; }
svg.lines .flag { stroke: var(--alert); stroke-width: 1; } svg.lines text.flag { fill: var(--alert); stroke: none; }
.l-allocated { stroke: var(--k-weight); background: var(--k-weight); }
.l-reserved { stroke: var(--k-optimizer-state); background: var(--k-optimizer-state); }
.l-peak { stroke: var(--k-activation); background: var(--k-activation); }
.l-seconds { stroke: var(--k-temporary); background: var(--k-temporary); }
`;

/** Lines over steps, drawn without a script. Each bin shows its lowest and highest value. */
export function lineChart({ title, steps, lines, limit, flags, format }: Chart): Markup {
  const first = steps[0] ?? 0;
  const last = Math.max(first + 1, steps.at(-1) ?? 1);
  const highest = Math.max(1e-9, ...lines.map(({ values }) => largest(values)));
  // A limit far above would press the lines flat.
  const top = limit !== null && limit < 2.5 * highest ? Math.max(highest, limit) : highest * 1.05;
  const x = (step: number): number => LEFT + ((step - first) / (last - first)) * (WIDTH - LEFT - 8);
  const y = (value: number): number => (HEIGHT - BOTTOM) * (1 - value / top) + 8;
  const rules = Array.from({ length: RULES + 1 }, (_, index) => (top * index) / RULES);
  return html`<figure>
    <svg class="lines" viewBox="0 0 ${WIDTH} ${HEIGHT + 12}" role="img" aria-label="${title}">
      <title>${title}</title>
      ${rules.map(
        (value) =>
          html`<path class="grid" d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - 8}" /><text
              x="${LEFT - 6}"
              y="${(y(value) + 4).toFixed(1)}"
              text-anchor="end"
              >${format(value)}</text
            >`,
      )}
      ${[first, (first + last) / 2, last].map(
        (step, index) =>
          html`<text
            x="${x(step).toFixed(1)}"
            y="${HEIGHT + 8}"
            text-anchor="${["start", "middle", "end"][index]!}"
          >
            step ${Math.round(step).toLocaleString("en")}
          </text>`,
      )}
      ${limit !== null && limit <= top ? html`<path class="limit" d="M${LEFT} ${y(limit).toFixed(1)}H${WIDTH - 8}" />` : null}
      ${lines.map(
        ({ name, kind, values }) =>
          html`<path class="l-${kind}" d="${path(steps, values, x, y)}"><title>${name}</title></path>`,
      )}
      ${flags.map(
        ({ step, label }) =>
          html`<path class="flag" d="M${x(step).toFixed(1)} 8V${HEIGHT - BOTTOM + 8}"
              ><title>${label}</title></path
            ><text
              class="flag"
              x="${(x(step) + (x(step) > 0.75 * WIDTH ? -4 : 4)).toFixed(1)}"
              y="18"
              text-anchor="${x(step) > 0.75 * WIDTH ? "end" : "start"}"
              >${label}</text
            >`,
      )}
    </svg>
    <figcaption class="soft">
      ${lines.map(({ name, kind }) => html`<span class="swatch l-${kind}"></span>${name} `)}
    </figcaption>
  </figure>`;
}

function path(
  steps: Float64Array,
  values: Float64Array,
  x: (step: number) => number,
  y: (value: number) => number,
): string {
  const stride = Math.max(1, values.length / BINS);
  const points: string[] = [];
  for (let bin = 0; bin * stride < values.length; bin++) {
    const from = Math.floor(bin * stride);
    const to = Math.max(from + 1, Math.floor((bin + 1) * stride));
    const part = values.subarray(from, to).filter((value) => value > 0);
    if (part.length === 0) continue;
    const [low, high] = [part.reduce((a, b) => Math.min(a, b)), largest(part)];
    const at = x(steps[from]!).toFixed(1);
    points.push(`${at} ${y(high).toFixed(1)}`);
    if (low < high) points.push(`${at} ${y(low).toFixed(1)}`);
  }
  return points.length === 0 ? "" : `M${points.join("L")}`;
}

function largest(values: Float64Array): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}
