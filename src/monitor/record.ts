/** What one training process wrote down: rows of numbers, a step each, and now and then an event. */

export interface Head {
  readonly rank: number;
  readonly local_rank: number;
  readonly world: number;
  readonly host: string;
  readonly pid: number;
  readonly python: string;
  readonly torch: string | null;
  readonly t: number;
  readonly columns: readonly string[];
  readonly device?: {
    readonly index: number;
    readonly name: string;
    readonly total: number;
    readonly uuid: string;
  };
}

/** `k` says which kind; the rest depends on it. */
export interface RecordedEvent {
  readonly k: string;
  readonly t: number;
  readonly step?: number;
  readonly [field: string]: unknown;
}

export interface LeakEvent extends RecordedEvent {
  readonly k: "leak";
  readonly step: number;
  readonly file: string | null;
  readonly line: number | null;
  readonly text: string;
  readonly held: string;
  readonly tensor: string;
  readonly why: string;
  readonly per_step: number;
  readonly confidence: number;
}

const FIRST_ROWS = 1024;

/** Fed with the file's text as it grows; a torn last line waits for its rest. */
export class Record {
  head: Head | null = null;
  readonly events: RecordedEvent[] = [];
  steps = 0;
  #columns = new Map<string, Float64Array>();
  #order: Float64Array[] = [];
  #room = 0;
  #rest = "";

  feed(text: string): void {
    const whole = this.#rest + text;
    const end = whole.lastIndexOf("\n");
    this.#rest = whole.slice(end + 1);
    if (end < 0) return;
    for (const line of whole.slice(0, end).split("\n")) this.#line(line);
  }

  /** The values of a column, one a step. */
  column(name: string): Float64Array {
    return (this.#columns.get(name) ?? new Float64Array(this.steps)).subarray(0, this.steps);
  }

  last(name: string): number {
    return this.#columns.get(name)?.[this.steps - 1] ?? 0;
  }

  leaks(): LeakEvent[] {
    return this.events.filter((event): event is LeakEvent => event.k === "leak");
  }

  #line(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Torn by a kill or a full disk: the rest of the record is good.
      return;
    }
    if (Array.isArray(value)) this.#row(value);
    else if (typeof value === "object" && value !== null) this.#event(value as RecordedEvent);
  }

  #event(event: RecordedEvent): void {
    if (event.k !== "head") {
      this.events.push(event);
      return;
    }
    this.head = event as unknown as Head;
    this.#room = FIRST_ROWS;
    this.#order = this.head.columns.map((name) => {
      const values = new Float64Array(FIRST_ROWS);
      this.#columns.set(name, values);
      return values;
    });
  }

  #row(row: readonly unknown[]): void {
    if (row.length !== this.#order.length) return;
    if (this.steps === this.#room) this.#grow();
    for (let index = 0; index < row.length; index++) this.#order[index]![this.steps] = Number(row[index]);
    this.steps++;
  }

  #grow(): void {
    this.#room *= 2;
    this.#order = [...this.#columns].map(([name, values]) => {
      const larger = new Float64Array(this.#room);
      larger.set(values);
      this.#columns.set(name, larger);
      return larger;
    });
  }
}
