import { formatBytes } from "../../../base/units.ts";
import { counted } from "./dom.ts";
import type { Recording } from "./recording.ts";
import { ticks, timeText, type View } from "./view.ts";

export interface Theme {
  readonly ink: string;
  readonly soft: string;
  readonly grid: string;
  readonly panel: string;
  readonly reserved: string;
  readonly alert: string;
  readonly phases: readonly string[];
  /** By code of the kind. */
  readonly kinds: readonly string[];
  readonly font: string;
}

/** Room around the chart, in CSS pixels. */
export const MARGIN = { left: 64, right: 12, top: 40, bottom: 22 } as const;
const STEP_ROW = 12;
const PHASE_ROW = { top: 18, height: 15 } as const;

export interface Scene {
  readonly recording: Recording;
  readonly view: View;
  readonly theme: Theme;
  readonly order: readonly number[];
  readonly selected: number;
  readonly hovered: number | null;
  /** The range being marked with shift and the mouse, on the axis. */
  readonly marked: readonly [number, number] | null;
}

/** Highest value the chart must show. The load line counts when the curve comes near it or above. */
function ceiling({ head, highest, allocated, reserved, highestReserved }: Recording): number {
  if (head.positions === 0) return 1;
  const top = Math.max(
    allocated[highest.in(0, head.positions)]!,
    reserved && highestReserved ? reserved[highestReserved.in(0, head.positions)]! : 0,
  );
  const limit = head.limit !== null && head.limit < top * 2.5 ? head.limit : 0;
  return Math.max(1, top, limit) * 1.04;
}

/** The stacked curve: in each column of pixels, the make-up of the highest moment that falls into it. */
function stack(context: CanvasRenderingContext2D, scene: Scene, box: Box, top: number): void {
  const { recording, view, theme, order } = scene;
  const ratio = context.getTransform().a;
  const columns = Math.max(1, Math.round(box.width * ratio));
  const unit = (view.to - view.from) / columns;
  const at = new Int32Array(columns);
  for (let column = 0; column < columns; column++) {
    const [first, end] = view.positions(view.from + column * unit, view.from + (column + 1) * unit);
    at[column] = recording.highest.in(first, end);
  }
  const y = (bytes: number): number => box.bottom - (bytes / top) * box.height;
  const x = (column: number): number => box.left + column / ratio;
  let base = new Float64Array(columns);
  for (const kind of order) {
    const curve = recording.byKind[kind]!;
    const next = base.map((below, column) => below + curve[at[column]!]!);
    context.beginPath();
    context.moveTo(x(0), y(next[0]!));
    for (let column = 0; column < columns; column++) {
      if (column > 0 && next[column] !== next[column - 1]) context.lineTo(x(column), y(next[column]!));
      context.lineTo(x(column + 1), y(next[column]!));
    }
    for (let column = columns - 1; column >= 0; column--) {
      context.lineTo(x(column + 1), y(base[column]!));
      context.lineTo(x(column), y(base[column]!));
    }
    context.fillStyle = theme.kinds[kind]!;
    context.fill();
    base = next;
  }
  line(context, columns, x, (column) => y(base[column]!));
  context.strokeStyle = theme.ink;
  context.lineWidth = 1;
  context.globalAlpha = 0.6;
  context.stroke();
  context.globalAlpha = 1;
  if (view.positions(view.from, view.from + unit * 4)[1] - view.positions(view.from, view.from)[0] > 8) {
    line(context, columns, x, (column) => {
      const [first, end] = view.positions(view.from + column * unit, view.from + (column + 1) * unit);
      return y(recording.allocated[recording.lowest.in(first, end)]!);
    });
    context.strokeStyle = theme.panel;
    context.globalAlpha = 0.65;
    context.stroke();
    context.globalAlpha = 1;
  }
  const { reserved, highestReserved } = recording;
  if (reserved && highestReserved) {
    line(context, columns, x, (column) => {
      const [first, end] = view.positions(view.from + column * unit, view.from + (column + 1) * unit);
      return y(reserved[highestReserved.in(first, end)]!);
    });
    context.strokeStyle = theme.reserved;
    context.lineWidth = 1.5;
    context.setLineDash([5, 3]);
    context.stroke();
    context.setLineDash([]);
  }
}

/** A path of level pieces, one a column. */
function line(
  context: CanvasRenderingContext2D,
  columns: number,
  x: (column: number) => number,
  y: (column: number) => number,
): void {
  context.beginPath();
  for (let column = 0; column < columns; column++) {
    const height = y(column);
    context.lineTo(x(column), height);
    context.lineTo(x(column + 1), height);
  }
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly bottom: number;
}

function boxOf(width: number, height: number, bare: boolean): Box {
  const { left, right, top, bottom } = bare
    ? { left: MARGIN.left, right: MARGIN.right, top: 2, bottom: 2 }
    : MARGIN;
  return {
    left,
    top,
    width: Math.max(1, width - left - right),
    height: Math.max(1, height - top - bottom),
    bottom: height - bottom,
  };
}

/** The whole recording, small. Drawn once: what the timeline shows of it is marked by an element that lies on it. */
export function drawOverview(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  scene: Scene,
): void {
  context.clearRect(0, 0, width, height);
  stack(context, scene, boxOf(width, height, true), ceiling(scene.recording));
}

export function drawTimeline(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  scene: Scene,
): void {
  const { recording, view, theme } = scene;
  const box = boxOf(width, height, false);
  const top = ceiling(recording);
  context.clearRect(0, 0, width, height);
  context.font = theme.font;
  context.textBaseline = "middle";
  grid(context, box, top, scene);
  context.save();
  context.beginPath();
  context.rect(box.left, 0, box.width, height);
  context.clip();
  stack(context, scene, box, top);
  if (recording.head.limit !== null) loadLine(context, box, top, recording.head.limit, theme);
  phases(context, box, scene);
  steps(context, box, scene);
  flags(context, box, top, scene);
  const x = (place: number): number => box.left + ((place - view.from) / (view.to - view.from)) * box.width;
  if (scene.hovered !== null) upright(context, x(view.place(scene.hovered)), box, theme.soft, [2, 2]);
  upright(context, x(view.place(scene.selected)), box, theme.ink, []);
  if (scene.marked) {
    const [a, b] = scene.marked.map(x) as [number, number];
    context.fillStyle = theme.ink;
    context.globalAlpha = 0.14;
    context.fillRect(Math.min(a, b), box.top, Math.abs(b - a), box.height);
    context.globalAlpha = 1;
  }
  context.restore();
}

function upright(
  context: CanvasRenderingContext2D,
  x: number,
  box: Box,
  color: string,
  dash: number[],
): void {
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, PHASE_ROW.top);
  context.lineTo(Math.round(x) + 0.5, box.bottom);
  context.stroke();
  context.setLineDash([]);
}

function grid(
  context: CanvasRenderingContext2D,
  box: Box,
  top: number,
  { recording, view, theme }: Scene,
): void {
  context.fillStyle = theme.soft;
  context.strokeStyle = theme.grid;
  context.lineWidth = 1;
  context.textAlign = "right";
  for (const tick of ticks(0, top, box.height / 48)) {
    const y = Math.round(box.bottom - (tick / top) * box.height) + 0.5;
    context.beginPath();
    context.moveTo(box.left, y);
    context.lineTo(box.left + box.width, y);
    context.stroke();
    context.fillText(formatBytes(tick), box.left - 6, y);
  }
  const across = ticks(view.from, view.to, box.width / 110);
  const step = across.length > 1 ? across[1]! - across[0]! : view.to - view.from;
  for (const tick of across) {
    const x = box.left + ((tick - view.from) / (view.to - view.from)) * box.width;
    context.textAlign = x > box.left + box.width - 40 ? "right" : x < box.left + 40 ? "left" : "center";
    const position = Math.min(recording.head.positions - 1, Math.floor(tick));
    const row = recording.row && position >= 0 ? recording.row[position]! : Math.round(tick);
    context.fillText(view.axis === "time" ? timeText(tick, step) : counted(row), x, box.bottom + 12);
  }
}

function loadLine(
  context: CanvasRenderingContext2D,
  box: Box,
  top: number,
  limit: number,
  theme: Theme,
): void {
  const y = box.bottom - (limit / top) * box.height;
  if (y < box.top - 2) return;
  context.strokeStyle = theme.alert;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(box.left, y);
  context.lineTo(box.left + box.width, y);
  context.stroke();
  label(context, `load line: ${formatBytes(limit)} usable`, box.left + 8, y - 10, "left", theme.alert, theme);
}

/** Stretches of one phase as a band; names where they fit. */
function phases(context: CanvasRenderingContext2D, box: Box, { recording, view, theme }: Scene): void {
  const unit = (view.to - view.from) / box.width;
  const pixels = Math.floor(box.width);
  const phaseAt = (pixel: number): number => {
    const [first, end] = view.positions(view.from + pixel * unit, view.from + (pixel + 1) * unit);
    return recording.phase[recording.highest.in(first, end)]!;
  };
  context.textAlign = "left";
  for (let pixel = 0; pixel < pixels;) {
    const phase = phaseAt(pixel);
    let end = pixel + 1;
    while (end < pixels && phaseAt(end) === phase) end++;
    const name = recording.head.phases[phase]!;
    if (name !== "unknown") {
      context.fillStyle = theme.phases[phase]!;
      context.fillRect(
        box.left + pixel,
        PHASE_ROW.top,
        end - pixel - (end - pixel > 3 ? 1 : 0),
        PHASE_ROW.height,
      );
      context.fillStyle = theme.ink;
      if (context.measureText(name).width + 8 < end - pixel)
        context.fillText(name, box.left + pixel + 4, PHASE_ROW.top + PHASE_ROW.height / 2 + 1);
    }
    pixel = end;
  }
}

/** Where a step begins: a hairline, and its number where there is room. */
function steps(context: CanvasRenderingContext2D, box: Box, { recording, view, theme }: Scene): void {
  const unit = (view.to - view.from) / box.width;
  const [first] = view.positions(view.from, view.from);
  let before = recording.step[first]!;
  let free = box.left;
  context.textAlign = "left";
  const pixels = Math.floor(box.width);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [, end] = view.positions(view.from + pixel * unit, view.from + (pixel + 1) * unit);
    const step = recording.step[end - 1]!;
    const begins = step !== before;
    before = step;
    if (!begins && pixel > 0) continue;
    const x = box.left + pixel;
    if (begins) {
      context.strokeStyle = theme.grid;
      context.beginPath();
      context.moveTo(x + 0.5, PHASE_ROW.top);
      context.lineTo(x + 0.5, box.bottom);
      context.stroke();
    }
    const text = step === 0 ? "before the first step" : `step ${step}`;
    const width = context.measureText(text).width;
    const next = pixel === 0 ? nextStep(recording, view, step, unit, pixels) : pixels;
    if (x < free || (pixel === 0 && width > next - 4)) continue;
    context.fillStyle = theme.soft;
    context.fillText(text, x + 2, STEP_ROW - 3);
    free = x + width + 14;
  }
}

/** Pixels until another step begins. */
function nextStep(recording: Recording, view: View, step: number, unit: number, pixels: number): number {
  for (let pixel = 0; pixel < pixels; pixel++) {
    const [, end] = view.positions(view.from + pixel * unit, view.from + (pixel + 1) * unit);
    if (recording.step[end - 1] !== step) return pixel;
  }
  return pixels;
}

function flags(
  context: CanvasRenderingContext2D,
  box: Box,
  top: number,
  { recording, view, theme }: Scene,
): void {
  for (const flag of recording.head.flags) {
    const place = view.place(flag.position);
    if (place < view.from || place > view.to) continue;
    const x = box.left + ((place - view.from) / (view.to - view.from)) * box.width;
    const y = box.bottom - (recording.allocated[flag.position]! / top) * box.height;
    const color = flag.what === "oom" ? theme.alert : theme.ink;
    context.fillStyle = color;
    context.strokeStyle = theme.panel;
    context.lineWidth = 1.5;
    context.beginPath();
    if (flag.what === "oom") {
      context.moveTo(x, y - 7);
      context.lineTo(x + 6, y + 4);
      context.lineTo(x - 6, y + 4);
      context.closePath();
    } else context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
    const left = x > box.left + box.width / 2;
    const below = flag.what === "oom" ? 20 : 0;
    label(
      context,
      flag.label,
      x + (left ? -10 : 10),
      Math.max(box.top + 8, y - 8) + below,
      left ? "right" : "left",
      color,
      theme,
    );
  }
}

/** Text on a plate, readable over any colour. */
function label(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  align: "left" | "right",
  color: string,
  theme: Theme,
): void {
  const width = context.measureText(text).width;
  context.fillStyle = theme.panel;
  context.globalAlpha = 0.88;
  context.fillRect(align === "left" ? x - 3 : x - width - 3, y - 8, width + 6, 16);
  context.globalAlpha = 1;
  context.fillStyle = color;
  context.textAlign = align;
  context.fillText(text, x, y);
}
