/** Up to this many keys cub sorts in one block, without memory of its own (1,024 seen so, 4,096 not). */
const ONE_BLOCK = 2048;
/** Keys a block of the one-sweep kernel takes (65,536 keys take 15 blocks), and the bits it sorts at a time. */
const TILE = 4608;
const DIGIT_BITS = 8;
const DIGITS = 2 ** DIGIT_BITS;

/**
 * Temporary bytes of cub's DeviceRadixSort::SortPairs with 8-byte keys and values: a second copy of both, each
 * tile's counters (4 bytes a digit), each pass's histogram (8 bytes a digit), and alignment.
 */
export function radixSortBytes(count: number, keyBits = 64): number {
  if (count <= ONE_BLOCK) return 1;
  const passes = Math.ceil(keyBits / DIGIT_BITS);
  const copy = Math.ceil((8 * count) / 256) * 256;
  return 2 * copy + 4 * DIGITS * Math.ceil(count / TILE) + 8 * DIGITS * passes + 511;
}

/** Bits that keys below `limit` need. */
export function bitsBelow(limit: number): number {
  return Math.floor(Math.log2(limit)) + 1;
}
