import { formatBytes } from "../../../base/units.ts";
import { counted } from "./dom.ts";
import { firstBorn, siteOf, type Recording, type Site } from "./recording.ts";
import { timeText } from "./view.ts";

/** "event 9,545 at 1.204 s, step 6, backward" */
export function whenText(recording: Recording, position: number): string {
  const { head, row, time, step, phase } = recording;
  const parts = [`event ${counted(row ? row[position]! : position)}`];
  if (time) parts[0] += ` at ${timeText(time[position]!, 1000)}`;
  if (step[position]! > 0) parts.push(`step ${step[position]!}`);
  if (head.phases[phase[position]!] !== "unknown") parts.push(head.phases[phase[position]!]!);
  return parts.join(", ");
}

/** What happened at a position: a storage came, went, or neither. Unknown where positions stand for many rows. */
export class Events {
  readonly #recording: Recording;
  #diedAt: Int32Array | null = null;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  at(position: number): { readonly text: string; readonly site: Site } | null {
    const { head, row, born, bytes, site } = this.#recording;
    if (row) return null;
    let storage = firstBorn(this.#recording, position);
    let verb = "allocates";
    if (born[storage] !== position) {
      storage = this.#deaths()[position]!;
      verb = "frees";
    }
    if (storage < 0 || storage >= born.length) return null;
    const where = siteOf(head, site[storage]!);
    return { text: `${verb} ${formatBytes(bytes[storage]!)}, ${head.kinds[where.kind]!}`, site: where };
  }

  #deaths(): Int32Array {
    if (this.#diedAt) return this.#diedAt;
    const { died, head } = this.#recording;
    const at = new Int32Array(head.positions).fill(-1);
    for (let id = 0; id < died.length; id++) if (died[id]! < at.length) at[died[id]!] = id;
    return (this.#diedAt = at);
  }
}
