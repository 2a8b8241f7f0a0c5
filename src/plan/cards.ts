import { UserError } from "../base/errors.ts";
import { type Bytes, GB, GiB, formatBytes, parseBytes } from "../base/units.ts";

/** A GPU. */
export interface Card {
  readonly name: string;
  /** What cudaMemGetInfo calls total: the box's number less what the driver keeps for itself and for ECC. */
  readonly memory: Bytes;
  /** CUDA compute capability. */
  readonly capability: number;
  /** Bytes a second to its own memory. */
  readonly bandwidth: number;
  /** Dense floating-point operations a second: half precision (bf16 from 8.0 on, else fp16), and fp32. */
  readonly half: number;
  readonly single: number;
  /** Bytes a second in one direction: to the host, and to a neighbour (NVLink where it has one). */
  readonly hostLink: number;
  readonly peerLink: number;
  /** Bytes a second to another machine, this card's share. */
  readonly networkLink: number;
}

/** Eight A100s share 400 Gbit/s in AWS's p4d.24xlarge (its instance page); clusters differ widely: say yours. */
const NETWORK = (400 / 8 / 8) * GB;

/**
 * Taken before PyTorch's first byte: the CUDA context with its kernels. About half a gigabyte on an H200 with
 * torch 2.11; it varies by a few hundred megabytes with driver and card.
 */
export const CONTEXT: Bytes = 0.5 * GB;
export const CONTEXT_SPREAD: Bytes = 0.3 * GB;

/** One direction of sixteen lanes: 16 GB/s of PCIe 3, 32 of 4, 64 of 5 (PCI-SIG's raw rates less encoding). */
const PCIE = { 3: 15.8, 4: 31.5, 5: 63 } as const;

const T = 1e12;

/** name, GiB, capability, GB/s, half and single TFLOP/s, PCIe generation, NVLink GB/s one way or 0. */
type Row = readonly [string, number, number, number, number, number, keyof typeof PCIE, number];

/**
 * Memory: the "total capacity" that PyTorch's out-of-memory messages give for the card on Linux in public
 * reports. It moves by a percent with driver and ECC; the lower was taken where two were known. Only the H200's
 * was read from a card (evidence/methods). Other columns: NVIDIA's data sheets and architecture papers, without
 * sparsity, tensor cores accumulating in fp32, which GeForce cards do at half speed.
 */
// prettier-ignore
const ROWS: readonly Row[] = [
  ["V100 16GB",               15.77, 7.0,  900,  125,  15.7, 3, 150],
  ["V100 32GB",               31.73, 7.0,  900,  125,  15.7, 3, 150],
  ["T4",                      14.56, 7.5,  320,   65,   8.1, 3, 0],
  ["Quadro RTX 8000",         47.45, 7.5,  672,  130,  16.3, 3, 50],
  ["RTX 2080 Ti",             10.75, 7.5,  616,   54,  13.4, 3, 50],
  ["A100 40GB",               39.38, 8.0, 1555,  312,  19.5, 4, 300],
  ["A100 80GB",               79.14, 8.0, 2039,  312,  19.5, 4, 300],
  ["A30",                     23.50, 8.0,  933,  165,  10.3, 4, 100],
  ["A10",                     21.98, 8.6,  600,  125,  31.2, 4, 0],
  ["A10G",                    21.98, 8.6,  600,   70,  35.0, 4, 0],
  ["A40",                     44.34, 8.6,  696,  150,  37.4, 4, 56],
  ["RTX A4000",               15.61, 8.6,  448,   77,  19.2, 4, 0],
  ["RTX A5000",               23.67, 8.6,  768,  111,  27.8, 4, 56],
  ["RTX A6000",               47.40, 8.6,  768,  155,  38.7, 4, 56],
  ["RTX 3060",                11.75, 8.6,  360,   25,  12.7, 4, 0],
  ["RTX 3080",                 9.77, 8.6,  760,   60,  29.8, 4, 0],
  ["RTX 3090",                23.68, 8.6,  936,   71,  35.6, 4, 56],
  ["RTX 3090 Ti",             23.68, 8.6, 1008,   80,  40.0, 4, 56],
  ["RTX 4060 Ti 16GB",        15.60, 8.9,  288,   44,  22.1, 4, 0],
  ["RTX 4070 Ti",             11.72, 8.9,  504,   80,  40.1, 4, 0],
  ["RTX 4080",                15.57, 8.9,  717,   97,  48.7, 4, 0],
  ["RTX 4090",                23.53, 8.9, 1008,  165,  82.6, 4, 0],
  ["RTX 5000 Ada",            31.49, 8.9,  576,  261,  65.3, 4, 0],
  ["RTX 6000 Ada",            47.38, 8.9,  960,  364,  91.1, 4, 0],
  ["L4",                      22.03, 8.9,  300,  121,  30.3, 4, 0],
  ["L40",                     44.32, 8.9,  864,  181,  90.5, 4, 0],
  ["L40S",                    44.32, 8.9,  864,  362,  91.6, 4, 0],
  ["H100 80GB",               79.10, 9.0, 3350,  989,  66.9, 5, 450],
  ["H100 PCIe",               79.10, 9.0, 2039,  756,  51.2, 5, 300],
  ["GH200 96GB",              94.50, 9.0, 4000,  989,  66.9, 5, 450],
  ["H200",                   139.80, 9.0, 4800,  989,  66.9, 5, 450],
  ["B200",                   178.35, 10.0, 8000, 2250, 75.0, 5, 900],
  ["RTX 5070 Ti",             15.47, 12.0,  896,  88,  43.9, 5, 0],
  ["RTX 5080",                15.47, 12.0,  960, 113,  56.3, 5, 0],
  ["RTX 5090",                31.36, 12.0, 1792, 210, 104.8, 5, 0],
  ["RTX PRO 6000 Blackwell",  94.97, 12.0, 1792, 504, 126.0, 5, 0],
];

export const CARDS: readonly Card[] = ROWS.map(
  ([name, memory, capability, bandwidth, half, single, pcie, nvlink]) => ({
    name,
    memory: Math.floor(memory * GiB),
    capability,
    bandwidth: bandwidth * GB,
    half: half * T,
    single: single * T,
    hostLink: PCIE[pcie] * GB,
    peerLink: (nvlink || PCIE[pcie]) * GB,
    networkLink: NETWORK,
  }),
);

const plain = (name: string): string => name.toLowerCase().replace(/nvidia|geforce|tesla|[\s_-]/g, "");

/** What a card of a bare size is taken to be: the RTX A5000 but for its memory. */
const ORDINARY = CARDS.find((card) => card.name === "RTX A5000")!;

/** Some way above what any card holds; beyond it a size is a slip. */
const LARGEST = 10e12;

/**
 * Reads "24GB", "4090", "A100-80GB", "H200@24GB". A bare size is that much as PyTorch sees it, decimal, on a card
 * with Ampere's kernels; behind an "@" it is a named card's part, where a process may not have all.
 */
export function cardOf(text: string): Card {
  const part = /^(.+)@(.+)$/.exec(text);
  if (part) {
    const card = cardOf(part[1]!);
    const memory = sizeOf(part[2]!);
    if (memory === null || memory > card.memory)
      throw new UserError(`"${part[2]}" is no part of the ${card.name}`, `up to ${formatBytes(card.memory)}`);
    return { ...card, name: `${card.name} (${formatBytes(memory)} of it)`, memory };
  }
  const memory = sizeOf(text);
  if (memory !== null) return { ...ORDINARY, name: `${formatBytes(memory)} card`, memory };
  const wanted = plain(text);
  const exact = CARDS.filter((card) => plain(card.name) === wanted || plain(card.name) === `rtx${wanted}`);
  const found = exact.length > 0 ? exact : CARDS.filter((card) => plain(card.name).includes(wanted));
  if (found.length === 1 && wanted !== "") return found[0]!;
  throw new UserError(
    found.length === 0 || wanted === ""
      ? `unknown card "${text}"`
      : `card "${text}" could be ${found.map((c) => c.name).join(" or ")}`,
    `Give a size ("24GB") or one of: ${CARDS.map((c) => c.name).join(", ")}.`,
  );
}

function sizeOf(text: string): Bytes | null {
  const bytes = parseBytes(text);
  if (bytes === null || !/[a-z]/i.test(text)) return null;
  if (bytes < GB || bytes > LARGEST)
    throw new UserError(`card "${text}" is ${formatBytes(bytes)}`, 'Give 1 GB to 10 TB: "24GB".');
  return bytes;
}

const MOST_CARDS = 4096;

/** "2xA5000", "A5000x2", "8x80GB": how many of which. */
export function cardsOf(text: string): { readonly count: number; readonly card: Card } {
  const match = /^\s*(\d+)\s*[x×*]\s*(.+)$/i.exec(text) ?? null;
  const behind = match ? null : /^(.+?)\s*[x×*]\s*(\d+)\s*$/i.exec(text);
  const count = Number(match?.[1] ?? behind?.[2] ?? 1);
  if (count < 1 || count > MOST_CARDS)
    throw new UserError(`cards "${text}": ${count} of them`, `Give 1 to ${MOST_CARDS}: "2xA5000".`);
  return { count, card: cardOf(match?.[2] ?? behind?.[1] ?? text) };
}
