import { formatBytes } from "../../../base/units.ts";
import { byId, el } from "./dom.ts";
import { drawOverview, drawTimeline, MARGIN, type Scene, type Theme } from "./draw.ts";
import { Events, whenText } from "./instant.ts";
import { kindClass, kindName, stackingOrder } from "./kinds.ts";
import type { Recording } from "./recording.ts";
import { type Axis, View } from "./view.ts";

const CLICK_PIXELS = 4;
const ZOOM_STEP = 0.6;

/** The chart, its small overview, and what mouse, wheel and keys do to them. */
export class Timeline {
  readonly #recording: Recording;
  readonly #view: View;
  readonly #all: View;
  readonly #events: Events;
  readonly #order: readonly number[];
  readonly #onSelect: (position: number) => void;
  readonly #canvas = byId<HTMLCanvasElement>("timeline");
  readonly #overview = byId<HTMLCanvasElement>("overview");
  readonly #window = byId("window");
  readonly #tip = byId("tip");
  #theme: Theme;
  #selected: number;
  #hovered: number | null = null;
  #marked: [number, number] | null = null;
  #queued = false;

  constructor(recording: Recording, selected: number, onSelect: (position: number) => void) {
    this.#recording = recording;
    this.#view = new View(recording);
    this.#all = new View(recording);
    this.#events = new Events(recording);
    this.#order = stackingOrder(recording.head.kinds, recording.byKind);
    this.#selected = selected;
    this.#onSelect = onSelect;
    this.#theme = this.#readTheme();
    this.#legend();
    this.#controls();
    this.#mouse();
    this.#keys();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#restyle());
    matchMedia("print").addEventListener("change", () => this.#restyle());
    new ResizeObserver(() => this.#drawAll()).observe(this.#canvas);
    this.#drawAll();
  }

  select(position: number): void {
    this.#selected = Math.min(Math.max(0, position), this.#recording.head.positions - 1);
    this.#view.reveal(this.#selected);
    this.#onSelect(this.#selected);
    this.#queue();
  }

  #restyle(): void {
    this.#theme = this.#readTheme();
    this.#drawAll();
  }

  #readTheme(): Theme {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const { kinds, phases } = this.#recording.head;
    const alone = this.#order.length === 1;
    return {
      ink: color("--ink"),
      soft: color("--soft"),
      grid: color("--grid"),
      panel: color("--panel"),
      reserved: color("--reserved"),
      alert: color("--alert"),
      phases: phases.map((_, code) => color(`--phase-${code % 4}`)),
      kinds: kinds.map((kind) => color(alone && kind === "unknown" ? "--k-weight" : `--${kindClass(kind)}`)),
      font: `11px ${color("--mono")}`,
    };
  }

  #legend(): void {
    const { head, reserved } = this.#recording;
    const alone = this.#order.length === 1;
    const item = (name: string, className: string): HTMLElement =>
      el("li", {}, el("span", { class: `swatch ${className}`, "aria-hidden": "true" }), name);
    const items = this.#order
      .toReversed()
      .map((code) =>
        item(kindName(head.kinds[code]!, alone), alone ? "k-weight" : kindClass(head.kinds[code]!)),
      );
    if (reserved) items.push(item("reserved", "line"));
    byId("legend").replaceChildren(...items);
  }

  #controls(): void {
    const act = (id: string, action: () => void): void =>
      byId(id).addEventListener("click", () => {
        action();
        this.#queue();
      });
    act("zoom-in", () => this.#view.zoom(ZOOM_STEP, this.#anchor()));
    act("zoom-out", () => this.#view.zoom(1 / ZOOM_STEP, this.#anchor()));
    act("zoom-all", () => this.#view.showAll());
    act("zoom-peak", () => this.#toPeak());
    const axis = byId<HTMLSelectElement>("axis");
    if (!this.#recording.time) axis.disabled = true;
    axis.addEventListener("change", () => {
      this.#view.setAxis(axis.value as Axis);
      this.#all.setAxis(axis.value as Axis);
      this.#drawAll();
    });
  }

  /** Where buttons and keys zoom to: the selected moment when it is in sight. */
  #anchor(): number {
    const at = (this.#view.place(this.#selected) - this.#view.from) / (this.#view.to - this.#view.from);
    return at >= 0 && at <= 1 ? at : 0.5;
  }

  #toPeak(): void {
    const peak = this.#recording.head.flags.find((flag) => flag.what === "peak");
    if (peak) this.select(peak.position);
  }

  /** Place on the axis under the mouse. */
  #placeAt(event: MouseEvent, canvas: HTMLCanvasElement, view: View): number {
    const box = canvas.getBoundingClientRect();
    const width = box.width - MARGIN.left - MARGIN.right;
    const part = Math.min(1, Math.max(0, (event.clientX - box.left - MARGIN.left) / width));
    return view.from + part * (view.to - view.from);
  }

  /** The moment drawn under the mouse: the highest of those in its column of pixels. */
  #positionAt(event: MouseEvent): number {
    const place = this.#placeAt(event, this.#canvas, this.#view);
    const unit = (this.#view.to - this.#view.from) / this.#chartWidth();
    const [first, end] = this.#view.positions(place - unit / 2, place + unit / 2);
    return this.#recording.highest.in(first, end);
  }

  #chartWidth(): number {
    return Math.max(1, this.#canvas.clientWidth - MARGIN.left - MARGIN.right);
  }

  #mouse(): void {
    const canvas = this.#canvas;
    let drag: { x: number; from: number; moved: boolean; marking: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      drag = { x: event.clientX, from: this.#view.from, moved: false, marking: event.shiftKey };
      if (drag.marking) {
        const place = this.#placeAt(event, canvas, this.#view);
        this.#marked = [place, place];
      }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (drag && Math.abs(event.clientX - drag.x) > CLICK_PIXELS) drag.moved = true;
      if (drag?.moved && drag.marking)
        this.#marked = [this.#marked![0], this.#placeAt(event, canvas, this.#view)];
      else if (drag?.moved) {
        const width = this.#view.to - this.#view.from;
        const from = drag.from - ((event.clientX - drag.x) / this.#chartWidth()) * width;
        this.#view.show(from, from + width);
        canvas.classList.add("dragging");
      }
      this.#hover(event);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !drag.moved) this.select(this.#positionAt(event));
      else if (drag?.marking && this.#marked)
        this.#view.show(Math.min(...this.#marked), Math.max(...this.#marked));
      this.#marked = null;
      drag = null;
      canvas.classList.remove("dragging");
      this.#queue();
    });
    canvas.addEventListener("pointercancel", () => {
      drag = null;
      this.#marked = null;
      this.#queue();
    });
    canvas.addEventListener("pointerleave", () => {
      this.#hovered = null;
      this.#tip.hidden = true;
      this.#queue();
    });
    canvas.addEventListener("dblclick", (event) => {
      const box = canvas.getBoundingClientRect();
      this.#view.zoom(
        0.25,
        Math.min(1, Math.max(0, (event.clientX - box.left - MARGIN.left) / this.#chartWidth())),
      );
      this.#queue();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        // The whole is in sight already: the page may scroll on.
        if (!sideways && event.deltaY > 0 && this.#view.whole) return;
        event.preventDefault();
        const box = canvas.getBoundingClientRect();
        if (sideways)
          this.#view.pan(
            ((event.deltaX || event.deltaY) / this.#chartWidth()) * (this.#view.to - this.#view.from),
          );
        else
          this.#view.zoom(
            Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.003),
            Math.min(1, Math.max(0, (event.clientX - box.left - MARGIN.left) / this.#chartWidth())),
          );
        this.#hover(event);
      },
      { passive: false },
    );
    const move = (event: PointerEvent): void => {
      if ((event.buttons & 1) === 0) return;
      const place = this.#placeAt(event, this.#overview, this.#all);
      const width = this.#view.to - this.#view.from;
      this.#view.show(place - width / 2, place + width / 2);
      this.#queue();
    };
    this.#overview.addEventListener("pointerdown", (event) => {
      this.#overview.setPointerCapture(event.pointerId);
      move(event);
    });
    this.#overview.addEventListener("pointermove", move);
  }

  #keys(): void {
    this.#canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const width = this.#view.to - this.#view.from;
      const actions: Record<string, () => void> = {
        ArrowLeft: () => this.#view.pan(-width / 8),
        ArrowRight: () => this.#view.pan(width / 8),
        ArrowUp: () => this.#view.zoom(ZOOM_STEP, this.#anchor()),
        ArrowDown: () => this.#view.zoom(1 / ZOOM_STEP, this.#anchor()),
        "+": () => this.#view.zoom(ZOOM_STEP, this.#anchor()),
        "=": () => this.#view.zoom(ZOOM_STEP, this.#anchor()),
        "-": () => this.#view.zoom(1 / ZOOM_STEP, this.#anchor()),
        "0": () => this.#view.showAll(),
        Home: () => this.#view.show(0, width),
        End: () => this.#view.show(this.#view.length - width, this.#view.length),
        ",": () => this.select(this.#selected - 1),
        ".": () => this.select(this.#selected + 1),
        p: () => this.#toPeak(),
      };
      const action = actions[event.key];
      if (!action) return;
      event.preventDefault();
      action();
      this.#queue();
    });
  }

  #hover(event: MouseEvent): void {
    this.#hovered = this.#positionAt(event);
    this.#fillTip(this.#hovered);
    const box = this.#canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    this.#tip.hidden = false;
    const left = x > box.width / 2 ? x - this.#tip.offsetWidth - 14 : x + 14;
    this.#tip.style.left = `${Math.max(0, left)}px`;
    this.#tip.style.top = `${MARGIN.top}px`;
    this.#queue();
  }

  #fillTip(position: number): void {
    const { head, allocated, reserved, byKind } = this.#recording;
    const event = this.#events.at(position);
    const alone = this.#order.length === 1;
    const kinds = this.#order
      .toReversed()
      .filter((code) => byKind[code]![position]! > 0)
      .map((code) =>
        el(
          "tr",
          {},
          el(
            "td",
            {},
            el("span", { class: `swatch ${alone ? "k-weight" : kindClass(head.kinds[code]!)}` }),
            kindName(head.kinds[code]!, alone),
          ),
          el("td", { class: "number" }, formatBytes(byKind[code]![position]!)),
        ),
      );
    this.#tip.replaceChildren(
      el("div", { class: "soft" }, whenText(this.#recording, position)),
      el(
        "div",
        {},
        el("b", {}, formatBytes(allocated[position]!)),
        " allocated",
        reserved ? `, ${formatBytes(reserved[position]!)} reserved` : "",
      ),
      el("table", {}, ...kinds),
      ...(event
        ? [
            el("div", {}, event.text),
            el("div", { class: "soft where" }, placeText(this.#recording, event.site)),
          ]
        : []),
    );
  }

  #queue(): void {
    if (this.#queued) return;
    this.#queued = true;
    requestAnimationFrame(() => {
      this.#queued = false;
      this.#draw();
    });
  }

  #scene(view: View): Scene {
    return {
      recording: this.#recording,
      view,
      theme: this.#theme,
      order: this.#order,
      selected: this.#selected,
      hovered: this.#hovered,
      marked: this.#marked,
    };
  }

  /** Both pictures: at another size, in other colours, over another axis. */
  #drawAll(): void {
    paint(this.#overview, (context, width, height) =>
      drawOverview(context, width, height, this.#scene(this.#all)),
    );
    this.#draw();
  }

  #placeWindow(): void {
    const width = Math.max(1, this.#overview.clientWidth - MARGIN.left - MARGIN.right);
    const { from, to, length } = this.#view;
    this.#window.style.left = `${MARGIN.left + (from / length) * width}px`;
    this.#window.style.width = `${Math.max(3, ((to - from) / length) * width)}px`;
  }

  #draw(): void {
    const scene = this.#scene(this.#view);
    paint(this.#canvas, (context, width, height) => drawTimeline(context, width, height, scene));
    this.#placeWindow();
    // For whoever reads the page by machine: tests, and screen readers through the label.
    const { row } = this.#recording;
    this.#canvas.dataset["from"] = String(this.#view.from);
    this.#canvas.dataset["to"] = String(this.#view.to);
    this.#canvas.dataset["row"] = String(row ? row[this.#selected]! : this.#selected);
  }
}

/** The module, or the line, of what came or went. */
function placeText({ head }: Recording, { module, stack }: { module: number; stack: number }): string {
  return [head.modules[module]!, head.lines[stack]!].filter(Boolean).join(" · ");
}

/** At the screen's own resolution. */
function paint(
  canvas: HTMLCanvasElement,
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void,
): void {
  const ratio = Math.min(3, window.devicePixelRatio || 1);
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (width === 0 || height === 0) return;
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw(context, width, height);
}
