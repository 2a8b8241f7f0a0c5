import { UserError } from "../base/errors.ts";
import { type Bytes, GB, MiB, formatBytes, parseBytes } from "../base/units.ts";

/** A GPU. */
export interface Card {
  readonly name: string;
  /** What the driver reports as total, not what the box says. */
  readonly memory: Bytes;
  /** CUDA compute capability. */
  readonly capability: number;
}

/**
 * Taken before PyTorch's first byte: the CUDA context with its kernels. Measured on an H200 with torch 2.11
 * (evidence/context.json); it varies by a few hundred megabytes with driver and card.
 */
export const CONTEXT: Bytes = 0.5 * GB;

const CARDS: readonly Card[] = [
  { name: "RTX 3090", memory: 24_576 * MiB, capability: 8.6 },
  { name: "RTX 4090", memory: 24_564 * MiB, capability: 8.9 },
  { name: "RTX A5000", memory: 24_564 * MiB, capability: 8.6 },
  { name: "A100 80GB", memory: 81_920 * MiB, capability: 8.0 },
  { name: "H100 80GB", memory: 81_559 * MiB, capability: 9.0 },
  { name: "H200", memory: 143_771 * MiB, capability: 9.0 },
];

const plain = (name: string): string => name.toLowerCase().replace(/nvidia|geforce|[\s_-]/g, "");

/** Reads "24GB", "4090", "A100-80GB". A bare size is a card of that size with Ampere's kernels. */
export function cardOf(text: string): Card {
  const bytes = parseBytes(text);
  if (bytes !== null && /[a-z]/i.test(text))
    return { name: formatBytes(bytes), memory: bytes, capability: 8.6 };
  const wanted = plain(text);
  const found = CARDS.filter(
    (card) => plain(card.name).endsWith(wanted) || plain(card.name).startsWith(wanted),
  );
  if (found.length === 1) return found[0]!;
  throw new UserError(
    found.length === 0
      ? `unknown card "${text}"`
      : `card "${text}" could be ${found.map((c) => c.name).join(" or ")}`,
    `Give a size ("24GB") or one of: ${CARDS.map((c) => c.name).join(", ")}.`,
  );
}
