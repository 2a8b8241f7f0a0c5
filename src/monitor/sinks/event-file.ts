/**
 * TensorBoard's event file: TFRecords (length, checksum, bytes, checksum) of `Event` messages in protobuf's wire format.
 * https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto and summary.proto
 * Only what a scalar needs, which is a page; the protobuf and TensorFlow packages are megabytes.
 */

export interface Scalar {
  readonly tag: string;
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly value: number;
}

/** What every event file begins with. */
export function fileHead(time: number): Uint8Array {
  return framed(message([double(1, time), text(3, "brain.Event:2")]));
}

export function scalarEvent({ tag, step, time, value }: Scalar): Uint8Array {
  const summary = message([bytes(1, message([text(1, tag), float(2, value)]))]);
  return framed(message([double(1, time), integer(2, step), bytes(5, summary)]));
}

function framed(data: Uint8Array): Uint8Array {
  const record = new Uint8Array(data.length + 16);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, masked(crc32c(record.subarray(0, 8))), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, masked(crc32c(data)), true);
  return record;
}

// Wire types of protobuf: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes.

function double(field: number, value: number): Uint8Array {
  const part = new Uint8Array(9);
  part[0] = (field << 3) | 1;
  new DataView(part.buffer).setFloat64(1, value, true);
  return part;
}

function float(field: number, value: number): Uint8Array {
  const part = new Uint8Array(5);
  part[0] = (field << 3) | 5;
  new DataView(part.buffer).setFloat32(1, value, true);
  return part;
}

function integer(field: number, value: number): Uint8Array {
  return Uint8Array.from([field << 3, ...varint(value)]);
}

function text(field: number, value: string): Uint8Array {
  return bytes(field, new TextEncoder().encode(value));
}

function bytes(field: number, value: Uint8Array): Uint8Array {
  return message([Uint8Array.from([(field << 3) | 2, ...varint(value.length)]), value]);
}

function varint(value: number): number[] {
  const groups: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) groups.push((rest % 128) | 128);
  return [...groups, rest];
}

function message(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Castagnoli's polynomial, reflected: RFC 3720, appendix B.4. */
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

function crc32c(data: Uint8Array): number {
  let crc = ~0;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A checksum of data that holds checksums is weak, so TFRecords turn and shift it: tensorflow/core/lib/hash/crc32c.h */
function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
