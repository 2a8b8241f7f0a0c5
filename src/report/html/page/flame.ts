import { formatBytes } from "../../../base/units.ts";
import { byId, counted, el, percent, visible } from "./dom.ts";
import { kindClass } from "./kinds.ts";
import type { Recording } from "./recording.ts";
import { type Box, type Grouping, growTree } from "./tree.ts";

const ROW = 20;
/** Boxes narrower than this many pixels are not drawn: they could be neither read nor hit. */
const THINNEST = 1.5;

/** Rows around the box that is looked at: deep recursions are followed by clicking down into them. */
const MOST_ABOVE = 40;
const MOST_BELOW = 80;

/** What was live at a moment as an icicle: outermost frame on top, width by bytes, colour by kind. */
export class Flame {
  readonly #recording: Recording;
  readonly #area = byId("flame");
  readonly #search = byId<HTMLInputElement>("flame-search");
  readonly #grouping = byId<HTMLSelectElement>("flame-by");
  readonly #inFull = byId<HTMLInputElement>("flame-full");
  #position = 0;
  #root: Box | null = null;
  #zoomed: Box | null = null;
  #drawn = new Map<HTMLElement, Box>();

  constructor(recording: Recording) {
    this.#recording = recording;
    if (recording.head.frames.length <= 1) {
      this.#grouping.value = "module";
      this.#grouping.disabled = true;
    }
    this.#grouping.addEventListener("change", () => this.show(this.#position));
    this.#inFull.addEventListener("change", () => this.show(this.#position));
    this.#search.addEventListener("input", () => this.#highlight());
    byId("flame-reset").addEventListener("click", () => this.#zoom(this.#root));
    this.#area.addEventListener("click", (event) => this.#zoom(this.#boxOf(event.target)));
    this.#area.addEventListener("pointerover", (event) => this.#say(this.#boxOf(event.target)));
    this.#area.addEventListener("focusin", (event) => this.#say(this.#boxOf(event.target)));
    this.#area.addEventListener("keydown", (event) => this.#key(event));
    let width = 0;
    new ResizeObserver(() => {
      if (this.#area.clientWidth === width) return;
      width = this.#area.clientWidth;
      this.#draw();
    }).observe(this.#area);
  }

  show(position: number): void {
    this.#position = position;
    this.#root = growTree(this.#recording, position, this.#grouping.value as Grouping, this.#inFull.checked);
    this.#zoom(this.#root);
  }

  #boxOf(target: EventTarget | null): Box | null {
    const element = target instanceof Element ? target.closest<HTMLElement>(".box") : null;
    return element ? (this.#drawn.get(element) ?? null) : null;
  }

  #zoom(box: Box | null): void {
    if (!box) return;
    this.#zoomed = box;
    this.#draw();
    this.#say(box);
  }

  #draw(): void {
    const zoomed = this.#zoomed;
    if (!zoomed) return;
    const width = Math.max(1, this.#area.clientWidth);
    this.#drawn = new Map();
    const elements: HTMLElement[] = [];
    const ancestors: Box[] = [];
    for (let box = zoomed.parent; box && ancestors.length < MOST_ABOVE; box = box.parent)
      ancestors.unshift(box);
    ancestors.forEach((box, depth) => elements.push(this.#element(box, 0, width, depth, "above")));
    let deepest = ancestors.length;
    const open = [{ box: zoomed, left: 0, depth: ancestors.length }];
    for (let one = open.pop(); one; one = open.pop()) {
      const wide = zoomed.bytes > 0 ? (one.box.bytes / zoomed.bytes) * width : 0;
      if (wide < THINNEST) continue;
      elements.push(this.#element(one.box, one.left, wide, one.depth, ""));
      deepest = Math.max(deepest, one.depth);
      let left = one.left;
      if (one.depth >= ancestors.length + MOST_BELOW) continue;
      for (const child of one.box.children) {
        open.push({ box: child, left, depth: one.depth + 1 });
        left += (child.bytes / Math.max(1, zoomed.bytes)) * width;
      }
    }
    this.#area.style.height = `${(deepest + 1) * ROW}px`;
    this.#area.replaceChildren(...elements);
    elements[ancestors.length]?.setAttribute("tabindex", "0");
    byId<HTMLButtonElement>("flame-reset").disabled = zoomed === this.#root;
    this.#highlight();
  }

  #element(box: Box, left: number, width: number, depth: number, extra: string): HTMLElement {
    const color = box.kind === null ? "mixed" : kindClass(this.#recording.head.kinds[box.kind]!);
    const element = el(
      "div",
      {
        class: `box ${color} ${extra}`,
        role: "button",
        tabindex: "-1",
        "aria-label": `${visible(box.name)}, ${this.#sizes(box)}`,
      },
      width > 30 ? shortName(box.name) : "",
    );
    element.style.left = `${left}px`;
    element.style.width = `${Math.max(1, width - 1)}px`;
    element.style.top = `${depth * ROW}px`;
    this.#drawn.set(element, box);
    return element;
  }

  #sizes(box: Box): string {
    return `${formatBytes(box.bytes)}, ${percent(box.bytes, this.#root!.bytes)}, ${counted(box.count)} storage${box.count === 1 ? "" : "s"}`;
  }

  #say(box: Box | null): void {
    if (!box) return;
    byId("flame-detail").replaceChildren(
      el("b", {}, this.#sizes(box)),
      el("span", { class: "where" }, ` ${box === this.#root ? "everything that was live" : box.name}`),
    );
  }

  /** Marks what matches, and adds up the outermost matches. */
  #highlight(): void {
    const wanted = this.#search.value.trim().toLowerCase();
    const matches = (box: Box): boolean => wanted !== "" && box.name.toLowerCase().includes(wanted);
    for (const [element, box] of this.#drawn) {
      element.classList.toggle("match", matches(box));
      element.classList.toggle("faint", wanted !== "" && !matches(box));
    }
    const found = byId("flame-found");
    if (wanted === "" || !this.#root) {
      found.textContent = "";
      return;
    }
    let bytes = 0;
    const open = [this.#root];
    for (let box = open.pop(); box; box = open.pop()) {
      if (matches(box)) bytes += box.bytes;
      else open.push(...box.children);
    }
    found.textContent =
      bytes > 0 ? `${formatBytes(bytes)}, ${percent(bytes, this.#root.bytes)}` : "nothing found";
  }

  #key(event: KeyboardEvent): void {
    const box = this.#boxOf(event.target);
    if (!box) return;
    const siblings = box.parent?.children ?? [box];
    const at = siblings.indexOf(box);
    const targets: Record<string, Box | null | undefined> = {
      ArrowDown: box.children[0],
      ArrowUp: box.parent,
      ArrowRight: siblings[at + 1],
      ArrowLeft: siblings[at - 1],
    };
    if (event.key === "Enter" || event.key === " ") this.#zoom(box);
    else if (event.key === "Escape") this.#zoom(this.#root);
    else if (!(event.key in targets)) return;
    event.preventDefault();
    const next = event.key in targets ? targets[event.key] : this.#zoomed;
    for (const [element, one] of this.#drawn) if (one === next) element.focus();
  }
}

/** "forward modeling_gpt2.py:697" for a frame; anything else as it is. */
function shortName(name: string): string {
  const match = /^(?:.*[\\/])?([^\\/]*):(-?\d+):([^:]*)$/.exec(name);
  return match ? `${match[3]!} ${match[1]!}:${match[2]!}` : name;
}
