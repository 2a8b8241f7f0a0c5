/** Damage for snapshot files: the same seed gives the same bytes. */

function generator(seed: number): (below: number) => number {
  let state = seed | 0;
  // mulberry32
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Bytes that mean something to a pickle: opcodes, lengths at their limits. */
const TELLING = [
  0x28, 0x2e, 0x30, 0x31, 0x32, 0x42, 0x47, 0x49, 0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x52, 0x54, 0x55, 0x58, 0x5d,
  0x61, 0x62, 0x63, 0x64, 0x65, 0x67, 0x68, 0x69, 0x6a, 0x6c, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x7d, 0x80,
  0x85, 0x86, 0x87, 0x88, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x91, 0x93, 0x94, 0x95, 0x96, 0x00, 0x01,
  0x7f, 0xff,
];

type Random = (below: number) => number;
type Damage = (bytes: Uint8Array, random: Random, other: Uint8Array) => Uint8Array;

function splice(bytes: Uint8Array, at: number, drop: number, insert: Uint8Array): Uint8Array {
  const out = new Uint8Array(bytes.length - drop + insert.length);
  out.set(bytes.subarray(0, at));
  out.set(insert, at);
  out.set(bytes.subarray(at + drop), at + insert.length);
  return out;
}

const DAMAGES: readonly Damage[] = [
  function flipBits(bytes, random) {
    const out = bytes.slice();
    for (let i = 1 + random(8); i > 0; i--) out[random(out.length)]! ^= 1 << random(8);
    return out;
  },
  function overwrite(bytes, random) {
    const out = bytes.slice();
    for (let i = 1 + random(4); i > 0; i--) out[random(out.length)] = TELLING[random(TELLING.length)]!;
    return out;
  },
  function truncate(bytes, random) {
    return bytes.slice(0, random(bytes.length));
  },
  function remove(bytes, random) {
    const at = random(bytes.length);
    return splice(bytes, at, Math.min(1 + random(40), bytes.length - at), new Uint8Array(0));
  },
  function insert(bytes, random) {
    const added = Uint8Array.from({ length: 1 + random(20) }, () => TELLING[random(TELLING.length)]!);
    return splice(bytes, random(bytes.length), 0, added);
  },
  function repeat(bytes, random) {
    const at = random(bytes.length);
    const piece = bytes.slice(at, at + 1 + random(300));
    return splice(bytes, random(bytes.length), 0, piece);
  },
  function graft(bytes, random, other) {
    const from = random(other.length);
    const at = random(bytes.length);
    return splice(bytes, at, Math.min(random(200), bytes.length - at), other.slice(from, from + random(400)));
  },
  function lengths(bytes, random) {
    const out = bytes.slice();
    const at = random(Math.max(1, out.length - 9));
    out[at] = [0x58, 0x8d, 0x8e, 0x95, 0x96, 0x8b, 0x72, 0x6a][random(8)]!;
    for (let i = 1; i < 9; i++) out[at + i] = [0, 0xff, 0x7f, random(256)][random(4)]!;
    return out;
  },
  /** The argument of a number or reference, which leaves the pickle whole and its meaning absurd. */
  function argument(bytes, random) {
    const out = bytes.slice();
    let at = random(out.length);
    while (at < out.length && ![0x4a, 0x4b, 0x4d, 0x68, 0x6a, 0x71, 0x8a].includes(out[at]!)) at++;
    const offset = out[at] === 0x8a ? 2 + random(6) : 1 + random(2);
    out[at + offset] = random(3) === 0 ? random(256) : (out[at + offset] ?? 0) ^ (1 << random(8));
    return out;
  },
  /** A letter of a key, an action or a state. */
  function spelling(bytes, random) {
    const out = bytes.slice();
    let at = random(out.length);
    while (at < out.length && !(out[at]! >= 0x61 && out[at]! <= 0x7a && out[at - 1]! >= 0x61)) at++;
    out[at] = 0x61 + random(26);
    return out;
  },
  function flood(bytes, random) {
    const added = new Uint8Array(1 + random(20_000)).fill(TELLING[random(TELLING.length)]!);
    return splice(bytes, random(bytes.length), 0, added);
  },
];

/** One damaged file: one to three kinds of damage to one of the bases. */
export function mutated(bases: readonly Uint8Array[], seed: number): Uint8Array {
  const random = generator(seed);
  let bytes = bases[random(bases.length)]!;
  for (let i = 1 + Math.max(0, random(5) - 2); i > 0; i--) {
    const damaged = DAMAGES[random(DAMAGES.length)]!(bytes, random, bases[random(bases.length)]!);
    if (damaged.length > 0) bytes = damaged;
  }
  return bytes;
}

/** How a reading ended: "read", "refused" (a UserError of one line), or what crashed. */
export function outcome(act: () => unknown): string {
  try {
    act();
    return "read";
  } catch (error) {
    if (!(error instanceof Error)) return `threw ${String(error)}`;
    if (error.name !== "UserError") return error.stack ?? error.message;
    return /^[^\n]{1,600}$/.test(error.message)
      ? "refused"
      : `not one line: ${JSON.stringify(error.message)}`;
  }
}
