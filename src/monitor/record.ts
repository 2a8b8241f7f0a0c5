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
  /** On a GPU: lines whose blocks, allocated while it was looked into, are still alive. */
  readonly allocated_at?: readonly {
    readonly file: string;
    readonly line: number;
    readonly text: string;
    readonly bytes: number;
  }[];
}

const FIRST_ROWS = 1024;
const [NEWLINE, BRACKET, CLOSING, COMMA, DOT, MINUS, ZERO, NINE] = [10, 91, 93, 44, 46, 45, 48, 57] as const;
const decoder = new TextDecoder();

/**
 * Fed with the file's bytes as it grows; a torn last line waits for its rest.
 *
 * With `keep`, at most that many rows are held: every second, fourth… step, as the run gets longer. Totals, maxima and
 * the latest row are of all steps either way, so that a run can be followed for weeks in the same memory.
 */
export class Record {
  head: Head | null = null;
  readonly events: RecordedEvent[] = [];
  /** The most bytes this process and its children were seen to have resident: `host` events come every two seconds. */
  readonly host = { resident: 0, children: 0 };
  /** The same, as last seen. */
  readonly hostNow = { resident: 0, children: 0 };
  /** Steps seen. */
  steps = 0;
  readonly #keep: number;
  #columns = new Map<string, Float64Array>();
  #order: Float64Array[] = [];
  #room = 0;
  #rows = 0;
  #stride = 1;
  #latest = new Float64Array(0);
  #totals = new Float64Array(0);
  /** For each column, the row in which it was largest. */
  #largest: Float64Array[] = [];
  #rest = new Uint8Array(0);

  constructor(keep = Infinity) {
    this.#keep = keep;
  }

  feed(bytes: Uint8Array): void {
    const whole = this.#rest.length > 0 ? joined(this.#rest, bytes) : bytes;
    let start = 0;
    for (let end = whole.indexOf(NEWLINE); end >= 0; end = whole.indexOf(NEWLINE, start)) {
      this.#line(whole, start, end);
      start = end + 1;
    }
    this.#rest = whole.slice(start);
  }

  /** The values of a column, one a step (or fewer, see `keep`). */
  column(name: string): Float64Array {
    return (this.#columns.get(name) ?? new Float64Array(this.#rows)).subarray(0, this.#rows);
  }

  last(name: string): number {
    return this.#latest[this.#index(name)] ?? 0;
  }

  /** Over all steps but the first, which pays for everything that is lazy (unless it is the only one). */
  total(name: string): number {
    return (this.steps > 1 ? this.#totals : this.#latest)[this.#index(name)] ?? 0;
  }

  /** The value of `name` at the step where `at` was largest for the first time. */
  atLargest(at: string, name: string): number {
    return this.#largest[this.#index(at)]?.[this.#index(name)] ?? 0;
  }

  leaks(): LeakEvent[] {
    return this.events.filter((event): event is LeakEvent => event.k === "leak");
  }

  #line(bytes: Uint8Array, start: number, end: number): void {
    if (bytes[start] === BRACKET) {
      this.#row(bytes, start + 1, end);
      return;
    }
    try {
      const value: unknown = JSON.parse(decoder.decode(bytes.subarray(start, end)));
      if (typeof value === "object" && value !== null) this.#event(value as RecordedEvent);
    } catch {
      // Torn by a kill or a full disk: the rest of the record is good.
    }
  }

  #event(event: RecordedEvent): void {
    if (event.k === "host") {
      for (const name of ["resident", "children"] as const) {
        this.hostNow[name] = Number(event[name] ?? 0);
        this.host[name] = Math.max(this.host[name], this.hostNow[name]);
      }
      return;
    }
    if (event.k !== "head") {
      this.events.push(event);
      return;
    }
    this.head = event as unknown as Head;
    this.#room = FIRST_ROWS;
    const width = this.head.columns.length;
    this.#latest = new Float64Array(width);
    this.#totals = new Float64Array(width);
    this.#largest = this.head.columns.map(() => new Float64Array(width));
    this.#order = this.head.columns.map((name) => {
      const values = new Float64Array(FIRST_ROWS);
      this.#columns.set(name, values);
      return values;
    });
  }

  /** A million steps must open in a second or two: numbers are read in place, without a text of each. */
  #row(bytes: Uint8Array, start: number, end: number): void {
    const row = this.#latest;
    let column = 0;
    let from = start;
    while (from < end && column < row.length) {
      let mantissa = 0;
      let scale = 0;
      let sign = 1;
      let at = from;
      for (; at < end; at++) {
        const code = bytes[at]!;
        if (code >= ZERO && code <= NINE) {
          mantissa = mantissa * 10 + (code - ZERO);
          if (scale > 0) scale *= 10;
        } else if (code === DOT) scale = 1;
        else if (code === MINUS) sign = -1;
        else break;
      }
      let value = (sign * mantissa) / (scale || 1);
      if (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSING) {
        // An exponent, or something that is no number at all.
        while (at < end && bytes[at] !== COMMA && bytes[at] !== CLOSING) at++;
        value = Number(decoder.decode(bytes.subarray(from, at)));
      }
      row[column++] = value;
      from = at + 1;
    }
    if (column === row.length && column > 0 && bytes[end - 1] === CLOSING) this.#count(row);
  }

  #count(row: Float64Array): void {
    this.steps++;
    for (let column = 0; column < row.length; column++) {
      const value = row[column]!;
      if (this.steps > 1) this.#totals[column]! += value;
      if (this.steps === 1 || value > this.#largest[column]![column]!) this.#largest[column]!.set(row);
    }
    if ((this.steps - 1) % this.#stride !== 0) return;
    if (this.#rows >= this.#keep) this.#thin();
    if ((this.steps - 1) % this.#stride !== 0) return;
    if (this.#rows === this.#room) this.#grow();
    for (let column = 0; column < row.length; column++) this.#order[column]![this.#rows] = row[column]!;
    this.#rows++;
  }

  /** Lets every second row go. */
  #thin(): void {
    this.#stride *= 2;
    this.#rows = Math.ceil(this.#rows / 2);
    for (const values of this.#order)
      for (let row = 0; row < this.#rows; row++) values[row] = values[2 * row]!;
  }

  #index(name: string): number {
    return this.head?.columns.indexOf(name) ?? -1;
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

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
