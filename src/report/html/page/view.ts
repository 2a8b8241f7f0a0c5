import { lowerBound, type Recording } from "./recording.ts";

export type Axis = "events" | "time";

/** Which part of the recording the timeline shows, in units of its axis. */
export class View {
  readonly #recording: Recording;
  axis: Axis = "events";
  from = 0;
  to: number;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.to = this.length;
  }

  /** Of the whole axis. A position is one unit wide on the axis of events. */
  get length(): number {
    const { head, time } = this.#recording;
    return this.axis === "time" && time ? Math.max(1, time.at(-1)!) : Math.max(1, head.positions);
  }

  get whole(): boolean {
    return this.from <= 0 && this.to >= this.length;
  }

  /** Sixteen events (or microseconds) fill the screen at the closest. */
  get #closest(): number {
    return Math.min(16, this.length);
  }

  show(from: number, to: number): void {
    const width = Math.min(this.length, Math.max(this.#closest, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(0, middle - width / 2), this.length - width);
    this.to = this.from + width;
  }

  showAll(): void {
    this.show(0, this.length);
  }

  /** `factor` below 1 comes closer; `at` (0 to 1 of the width) stays where it is. */
  zoom(factor: number, at: number): void {
    const width = this.to - this.from;
    const wanted = Math.min(this.length, Math.max(this.#closest, width * factor));
    const fixed = this.from + width * at;
    const from = Math.min(Math.max(0, fixed - wanted * at), this.length - wanted);
    this.from = from;
    this.to = from + wanted;
  }

  pan(by: number): void {
    this.show(this.from + by, this.to + by);
  }

  /** The same moments on the other axis. */
  setAxis(axis: Axis): void {
    if (axis === this.axis) return;
    const [first] = this.positions(this.from, this.from);
    const [, end] = this.positions(this.to, this.to);
    const whole = this.whole;
    this.axis = axis;
    if (whole) this.showAll();
    else this.show(this.place(first), this.place(Math.min(end, this.#recording.head.positions - 1)));
  }

  /** Positions between two places on the axis: [first, end), never empty. Between events the last one holds. */
  positions(left: number, right: number): readonly [number, number] {
    const { head, time } = this.#recording;
    const last = head.positions - 1;
    if (this.axis === "events" || !time) {
      const first = Math.min(last, Math.max(0, Math.floor(left)));
      return [first, Math.min(last + 1, Math.max(first + 1, Math.floor(right)))];
    }
    const end = lowerBound(time, right);
    const first = Math.min(lowerBound(time, left), end - 1);
    return first < 0 ? [0, 1] : [first, Math.max(first + 1, end)];
  }

  /** Place of a position on the axis. */
  place(position: number): number {
    const { time } = this.#recording;
    return this.axis === "time" && time ? time[position]! : position + 0.5;
  }

  /** Keeps a position in sight. */
  reveal(position: number): void {
    const place = this.place(position);
    if (place >= this.from && place <= this.to) return;
    const width = this.to - this.from;
    this.show(place - width / 2, place + width / 2);
  }
}

const STEPS = [1, 2, 5];

/** Round numbers from `from` to `to`, about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((one) => one * power >= rough) ?? 10);
  const all: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) all.push(tick);
  return all;
}

/** Microseconds as "1.250 s" or "350 µs", fine enough to tell ticks `step` apart. */
export function timeText(time: number, step: number): string {
  if (step < 1000) return `${(time / 1000).toFixed(step < 1 ? 3 : step < 100 ? 2 : 1)} ms`;
  const digits = step < 10_000 ? 3 : step < 100_000 ? 2 : step < 1_000_000 ? 1 : 0;
  return `${(time / 1e6).toFixed(digits)} s`;
}
