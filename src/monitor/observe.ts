import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bytes } from "../base/units.ts";
import { Alerts, type Alert, type AlertRule } from "./alerts.ts";
import { stepsToArrow } from "./arrow.ts";
import { Nvidia, type Card } from "./nvidia.ts";
import type { Record } from "./record.ts";
import { writeWhole } from "./run-folder.ts";
import { summarize, type RunSummary } from "./summary.ts";
import { ROWS, Tail } from "./tail.ts";

export interface Live {
  readonly summary: RunSummary;
  /** Memory on the fullest card that no rank of this run reserved, from the driver; null where nobody can tell. */
  readonly outside: Bytes | null;
  readonly free: Bytes | null;
  readonly alerts: readonly Alert[];
  readonly records: readonly Record[];
  /** The driver's figures by the card's UUID, without its "GPU-". */
  readonly cards: ReadonlyMap<string, Card>;
}

/** Follows a run folder while the run writes it. */
export class Observer {
  readonly #folder: string;
  readonly #tail: Tail;
  readonly #alerts: Alerts;
  readonly #nvidia = new Nvidia();

  constructor(folder: string, rules: readonly AlertRule[]) {
    this.#folder = folder;
    this.#tail = new Tail(folder, ROWS);
    this.#alerts = new Alerts(rules);
  }

  look(): Live {
    const records = this.#tail.read();
    if (records.some((record) => record.head!.device)) this.#nvidia.start();
    const summary = summarize(records);
    const alerts = this.#alerts.check(summary);
    return { summary, ...this.#driver(records), alerts, records, cards: this.#nvidia.cards };
  }

  /** The last look, kept beside the records, and the steps as an Arrow table. */
  close(): Live {
    const live = this.look();
    this.#nvidia.stop();
    const steps = join(this.#folder, "steps.arrow");
    writeFileSync(`${steps}.part`, stepsToArrow(new Tail(this.#folder).read()));
    renameSync(`${steps}.part`, steps);
    writeWhole(join(this.#folder, "summary.json"), { ...live.summary, outside: live.outside });
    return live;
  }

  #driver(records: readonly Record[]): { outside: Bytes | null; free: Bytes | null } {
    const reserved = new Map<string, Bytes>();
    for (const record of records) {
      const uuid = record.head!.device?.uuid.replace(/^GPU-/, "");
      if (uuid) reserved.set(uuid, (reserved.get(uuid) ?? 0) + record.last("reserved"));
    }
    const known = [...reserved].flatMap(([uuid, bytes]) => {
      const card = this.#nvidia.cards.get(uuid);
      return card ? [{ outside: Math.max(0, card.used - bytes), free: card.free }] : [];
    });
    return known.toSorted((a, b) => a.free - b.free)[0] ?? { outside: null, free: null };
  }
}
