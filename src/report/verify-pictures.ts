import { formatBytes } from "../base/units.ts";
import type { Verification } from "../verify/result.ts";

const [WIDTH, HEIGHT] = [720, 300] as const;
const MARGIN = { left: 76, right: 16, top: 34, bottom: 36 } as const;
const TICKS = 4;
/** Readable on white and on GitHub's dark background; before is drawn wider, so that it shows where both agree. */
const COLORS = { before: "#e8930c", after: "#2f81f7", ink: "#7d8590" } as const;

export function lossPicture({ curves }: Verification): string {
  return picture("loss, step by step", curves.loss.before, curves.loss.after, (value) =>
    String(Number(value.toPrecision(3))),
  );
}

export function memoryPicture({ curves }: Verification): string {
  const { what, before, after } = curves.memory;
  return picture(what, before, after, formatBytes);
}

/** Two curves over the steps, as an SVG file. */
function picture(
  title: string,
  before: readonly (number | null)[],
  after: readonly (number | null)[],
  label: (value: number) => string,
): string {
  const values = [...before, ...after].filter((value) => value !== null);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = most > least ? (most - least) * 0.05 : Math.abs(most) * 0.05 || 1;
  const [low, high] = values.length > 0 ? [least - room, most + room] : [0, 1];
  const steps = Math.max(2, before.length, after.length);
  const x = (at: number): number => MARGIN.left + (at / (steps - 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const y = (value: number): number =>
    MARGIN.top + (1 - (value - low) / (high - low)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const curve = (series: readonly (number | null)[], color: string, width: number): string =>
    `<path d="${path(series, x, y)}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linejoin="round"/>`;
  const ticks = Array.from({ length: TICKS + 1 }, (_, at) => at / TICKS);
  const text = (
    at: number,
    height: number,
    anchor: string,
    what: string,
    color: string = COLORS.ink,
  ): string =>
    `<text x="${at.toFixed(1)}" y="${height.toFixed(1)}" text-anchor="${anchor}" fill="${color}">${what}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}">`,
    ...ticks.map((share) => {
      const value = low + share * (high - low);
      const height = y(value);
      const line = `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${height.toFixed(1)}" y2="${height.toFixed(1)}" stroke="${COLORS.ink}" stroke-opacity="0.25"/>`;
      return line + text(MARGIN.left - 8, height + 4, "end", label(value));
    }),
    ...ticks.map((share) => {
      const step = Math.round(share * (steps - 1));
      return text(x(step), HEIGHT - 14, "middle", String(step + 1));
    }),
    text(MARGIN.left, 18, "start", title),
    text(WIDTH - MARGIN.right - 60, 18, "end", "before", COLORS.before),
    text(WIDTH - MARGIN.right, 18, "end", "after", COLORS.after),
    curve(before, COLORS.before, 4),
    curve(after, COLORS.after, 1.5),
    "</svg>",
    "",
  ].join("\n");
}

function path(
  series: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let pen = false;
  return series
    .flatMap((value, at) => {
      const move = pen ? "L" : "M";
      pen = value !== null;
      return value === null ? [] : [`${move}${x(at).toFixed(1)} ${y(value).toFixed(1)}`];
    })
    .join("");
}
