import { Op } from "../../src/snapshot/opcodes.ts";
import { Pickler } from "../../src/snapshot/pickler.ts";

/** A value to pickle; `raw` is put into the stream as it is. */
export type Value = string | number | boolean | null | Value[] | { [key: string]: Value } | Raw;
export class Raw {
  readonly bytes: readonly number[];
  constructor(...bytes: number[]) {
    this.bytes = bytes;
  }
}

export function pickled(value: Value): Uint8Array {
  const chunks: Uint8Array[] = [];
  const out = new Pickler((chunk) => chunks.push(chunk));
  const put = (one: Value): void => {
    if (one instanceof Raw) for (const byte of one.bytes) out.op(byte);
    else if (one === null) out.op(Op.NONE);
    else if (typeof one === "string") out.text(one);
    else if (typeof one === "boolean") out.op(one ? Op.NEWTRUE : Op.NEWFALSE);
    else if (typeof one === "number" && Number.isSafeInteger(one)) out.integer(one);
    else if (typeof one === "number") out.float(one);
    else if (Array.isArray(one)) {
      out.open(Op.EMPTY_LIST);
      out.op(Op.MARK);
      one.forEach(put);
      out.op(Op.APPENDS);
    } else {
      out.open(Op.EMPTY_DICT);
      out.op(Op.MARK);
      for (const [key, item] of Object.entries(one)) {
        out.text(key);
        put(item);
      }
      out.op(Op.SETITEMS);
    }
  };
  put(value);
  out.finish();
  return new Uint8Array(Buffer.concat(chunks));
}

export function event(
  action: string,
  addr: number,
  rest: { [key: string]: Value } = {},
): { [key: string]: Value } {
  return { action, addr, size: 512, stream: 0, time_us: 1, frames: [], ...rest };
}

export function snapshotOf(events: Value[], rest: { [key: string]: Value } = {}): Uint8Array {
  return pickled({ segments: [], device_traces: [events], allocator_settings: {}, ...rest });
}
