import type { Bytes } from "../../base/units.ts";
import { packNumbers, unpackNumbers } from "./varint.ts";

/** A moment worth a flag on the timeline. */
export interface Flag {
  readonly position: number;
  readonly label: string;
  readonly what: "peak" | "oom";
}

/**
 * What the page's script draws from. A **position** is a moment the page knows: a row of the tape, or, where the
 * tape is too long for a page, one of the rows chosen to stand for it (see sample.ts).
 */
export interface PageHead {
  /** Rows of the tape. */
  readonly events: number;
  readonly positions: number;
  readonly kinds: readonly string[];
  readonly phases: readonly string[];
  readonly modules: readonly string[];
  /** Each "file:line:function". */
  readonly frames: readonly string[];
  /** Ids of frames, outermost first. */
  readonly stacks: readonly (readonly number[])[];
  /** The telling line of each stack. */
  readonly lines: readonly string[];
  readonly sizes: readonly Bytes[];
  /** What storages have in common: stack, kind, module, phase, four numbers a site. */
  readonly sites: readonly number[];
  readonly flags: readonly Flag[];
  /** What the card leaves to PyTorch, drawn as the load line. */
  readonly limit: Bytes | null;
  /** A prediction: modules are names in the model, and there are no stacks. */
  readonly predicted: boolean;
}

/** Each a list of whole numbers without sign. */
export interface PageColumns {
  /** Rows of the positions, as differences; empty when every row is a position. */
  readonly row: ArrayLike<number>;
  /** Microseconds since the position before; empty without times. */
  readonly time: ArrayLike<number>;
  /** Runs of equal phase and step: length, phase, folded difference of the step. */
  readonly runLength: ArrayLike<number>;
  readonly runPhase: ArrayLike<number>;
  readonly runStep: ArrayLike<number>;
  /** Changes of the reserved bytes: distance in positions, folded difference. */
  readonly reservedAt: ArrayLike<number>;
  readonly reservedBy: ArrayLike<number>;
  /** Storages in order of birth: distance to the birth before, life in positions (0: to the end), size, site. */
  readonly born: ArrayLike<number>;
  readonly life: ArrayLike<number>;
  readonly size: ArrayLike<number>;
  readonly site: ArrayLike<number>;
}

const NAMES = [
  "row",
  "time",
  "runLength",
  "runPhase",
  "runStep",
  "reservedAt",
  "reservedBy",
  "born",
  "life",
  "size",
  "site",
] as const satisfies readonly (keyof PageColumns)[];

type Directory = Record<keyof PageColumns, readonly [bytes: number, count: number]>;

/** Length of a JSON text, the text (head and directory), then the columns one after the other. */
export function packPage(head: PageHead, columns: PageColumns): Uint8Array {
  const packed = NAMES.map((name) => packNumbers(columns[name]));
  const directory = Object.fromEntries(
    NAMES.map((name, at) => [name, [packed[at]!.length, columns[name].length]]),
  );
  const json = new TextEncoder().encode(JSON.stringify({ head, directory }));
  const out = new Uint8Array(4 + json.length + packed.reduce((sum, one) => sum + one.length, 0));
  new DataView(out.buffer).setUint32(0, json.length, true);
  let at = 4;
  for (const part of [json, ...packed]) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function unpackPage(bytes: Uint8Array): {
  readonly head: PageHead;
  readonly columns: Record<keyof PageColumns, Float64Array>;
} {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { head, directory } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as {
    head: PageHead;
    directory: Directory;
  };
  let at = 4 + length;
  const columns = Object.fromEntries(
    NAMES.map((name) => {
      const [size, count] = directory[name];
      at += size;
      return [name, unpackNumbers(bytes.subarray(at - size, at), count)];
    }),
  ) as Record<keyof PageColumns, Float64Array>;
  return { head, columns };
}
