import { formatBytes } from "../../../base/units.ts";
import { byId, counted, el, percent } from "./dom.ts";
import { whenText } from "./instant.ts";
import { kindClass } from "./kinds.ts";
import { liveBySite, type Recording, siteOf, type Site } from "./recording.ts";

type Dimension = "kind" | "line" | "module" | "size" | "phase";

interface Share {
  readonly label: string;
  kind: string;
  bytes: number;
  count: number;
}

const SHOWN = 12;

/** The table of what is live at the selected moment, grouped as the reader likes. */
export class MakeUp {
  readonly #recording: Recording;
  #position = 0;
  #dimension: Dimension;
  #everything = false;

  constructor(recording: Recording) {
    this.#recording = recording;
    const kindsKnown = recording.byKind.some(
      (curve, code) => curve && recording.head.kinds[code] !== "unknown",
    );
    this.#dimension = kindsKnown ? "kind" : "size";
    for (const button of this.#tabs()) {
      button.addEventListener("click", () => {
        this.#dimension = button.dataset["by"] as Dimension;
        this.#everything = false;
        this.#fill();
      });
    }
  }

  show(position: number): void {
    this.#position = position;
    this.#fill();
  }

  #tabs(): HTMLButtonElement[] {
    return [...byId("makeup-tabs").querySelectorAll("button")];
  }

  #fill(): void {
    const recording = this.#recording;
    for (const button of this.#tabs())
      button.setAttribute("aria-pressed", String(button.dataset["by"] === this.#dimension));
    const total = recording.allocated[this.#position] ?? 0;
    const flag = recording.head.flags.find((one) => one.position === this.#position);
    byId("instant").replaceChildren(
      el("b", { "data-total": total }, formatBytes(total)),
      " allocated",
      recording.reserved ? `, ${formatBytes(recording.reserved[this.#position]!)} reserved` : "",
      el(
        "span",
        { class: "soft" },
        ` · ${whenText(recording, this.#position)}${flag ? ` · ${flag.what === "oom" ? "out of memory" : "the peak"}` : ""}`,
      ),
    );
    const shares = this.#dimension === "size" ? this.#bySize() : this.#bySite(this.#dimension);
    const shown = this.#everything ? shares : shares.slice(0, SHOWN);
    const rows = shown.map((share) => row(share, total));
    if (shown.length < shares.length) {
      const rest = shares.slice(shown.length);
      const bytes = rest.reduce((sum, share) => sum + share.bytes, 0);
      const more = el("button", { type: "button", class: "plain" }, `… and ${counted(rest.length)} more`);
      more.addEventListener("click", () => {
        this.#everything = true;
        this.#fill();
      });
      const last = el(
        "tr",
        { "data-bytes": bytes },
        el("td", {}, more),
        ...numbers(
          bytes,
          rest.reduce((sum, one) => sum + one.count, 0),
          total,
        ),
      );
      rows.push(last);
    }
    byId("makeup").replaceChildren(...rows);
  }

  #bySite(dimension: Exclude<Dimension, "size">): Share[] {
    const { head } = this.#recording;
    const groups = new Map<string, Share>();
    const kindBytes = new Map<string, Map<number, number>>();
    for (const [id, { bytes, count }] of liveBySite(this.#recording, this.#position)) {
      const site = siteOf(head, id);
      const label = labelOf(this.#recording, site, dimension);
      const kinds = kindBytes.get(label) ?? new Map<number, number>();
      kindBytes.set(label, kinds.set(site.kind, (kinds.get(site.kind) ?? 0) + bytes));
      const known = groups.get(label);
      if (known) {
        known.bytes += bytes;
        known.count += count;
      } else groups.set(label, { label, kind: "", bytes, count });
    }
    for (const share of groups.values()) share.kind = head.kinds[largest(kindBytes.get(share.label)!)]!;
    return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  }

  #bySize(): Share[] {
    const { born, died, bytes } = this.#recording;
    const groups = new Map<number, Share>();
    for (let id = 0; id < born.length && born[id]! <= this.#position; id++) {
      if (died[id]! <= this.#position) continue;
      const size = bytes[id]!;
      const known = groups.get(size);
      if (known) {
        known.bytes += size;
        known.count++;
      } else groups.set(size, { label: `${formatBytes(size)} each`, kind: "unknown", bytes: size, count: 1 });
    }
    return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  }
}

export function largest(weights: ReadonlyMap<number, number>): number {
  let best = 0;
  let most = -1;
  for (const [key, weight] of weights) {
    if (weight > most) {
      best = key;
      most = weight;
    }
  }
  return best;
}

function labelOf({ head }: Recording, site: Site, dimension: Exclude<Dimension, "size">): string {
  switch (dimension) {
    case "kind":
      return head.kinds[site.kind]!;
    case "phase":
      return `made in ${head.phases[site.phase] === "unknown" ? "an unknown phase" : head.phases[site.phase]!}`;
    case "module":
      return (
        head.modules[site.module]! ||
        (head.predicted ? "(outside the model)" : "(no model code on the stack)")
      );
    case "line":
      return `${head.kinds[site.kind]!} · ${head.lines[site.stack]! || noFrames(head.phases[site.phase]!)}`;
  }
}

export function noFrames(phase: string): string {
  return phase === "unknown" ? "(no Python frames)" : `${phase} (no Python frames)`;
}

function row(share: Share, total: number): HTMLTableRowElement {
  const fill = el("span", { class: `fill ${kindClass(share.kind)}` });
  fill.style.width = percent(share.bytes, total);
  return el(
    "tr",
    { "data-bytes": share.bytes },
    el("td", {}, el("div", { class: "what" }, share.label), el("div", { class: "track" }, fill)),
    ...numbers(share.bytes, share.count, total),
  );
}

function numbers(bytes: number, count: number, total: number): HTMLTableCellElement[] {
  return [
    el("td", { class: "number" }, formatBytes(bytes)),
    el("td", { class: "number" }, percent(bytes, total)),
    el("td", { class: "number" }, counted(count)),
  ];
}
