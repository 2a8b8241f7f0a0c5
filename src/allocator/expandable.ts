import type { Bytes } from "../base/units.ts";
import { FREE, NONE } from "./blocks.ts";
import type { Bin, Heap } from "./heap.ts";

/** Address space of one expandable segment: torch reserves 1 1/8 of the device's memory. */
function addressSpace(page: Bytes, deviceMemory: Bytes): Bytes {
  return Math.ceil((deviceMemory + Math.floor(deviceMemory / 8)) / page) * page;
}

function roomFrom(heap: Heap, start: number, size: Bytes): boolean {
  const { blocks } = heap;
  let bytes = 0;
  for (
    let block = start;
    block !== NONE && bytes < size && blocks.state(block) === FREE;
    block = blocks.next(block)
  ) {
    bytes += blocks.size(block);
  }
  return bytes >= size;
}

/** The lowest address with room for `size` in free and unmapped blocks; a new range when there is none. */
function findRoom(heap: Heap, bin: Bin, size: Bytes, deviceMemory: Bytes): number {
  const { blocks } = heap;
  for (const block of bin.unmapped) {
    const before = blocks.prev(block);
    const start = before !== NONE && blocks.state(before) === FREE ? before : block;
    if (roomFrom(heap, start, size)) return start;
  }
  const page = heap.page(bin.pool);
  const space = Math.max(addressSpace(page, deviceMemory), Math.ceil(size / page) * page);
  const base = heap.place("segment_map", space, bin.stream);
  const block = blocks.create(base, space, bin.index, base);
  blocks.setMapped(block, false);
  heap.insertUnmapped(block);
  return block;
}

/** Backs the first `size` bytes of an unmapped block, in whole pages, and joins them to free neighbours. */
function map(heap: Heap, bin: Bin, block: number, size: Bytes): boolean {
  const { blocks } = heap;
  const page = heap.page(bin.pool);
  const bytes = Math.ceil(size / page) * page;
  if (!heap.deviceHas(bytes)) return false;
  const address = blocks.address(block);
  heap.removeUnmapped(block);
  blocks.setMapped(block, true);
  const left = blocks.size(block) - bytes;
  if (left > 0) {
    const rest = blocks.create(address + bytes, left, bin.index, blocks.base(block));
    blocks.setMapped(rest, false);
    blocks.link(block, rest, blocks.next(block));
    heap.insertUnmapped(rest);
    blocks.setSize(block, bytes);
  }
  heap.merge(block, blocks.prev(block));
  heap.merge(block, blocks.next(block));
  heap.insertFree(block);
  heap.took("segment_map", address, bytes, bin.stream);
  return true;
}

/** `try_allocate_expandable_block`: a block of at least `size`, out of the free set; NONE if the device is full. */
export function growExpandable(heap: Heap, bin: Bin, size: Bytes, deviceMemory: Bytes): number {
  const { blocks } = heap;
  let block = findRoom(heap, bin, size, deviceMemory);
  if (!blocks.isMapped(block) && !map(heap, bin, block, Math.min(blocks.size(block), size))) return NONE;
  while (blocks.size(block) < size) {
    const next = blocks.next(block);
    if (!map(heap, bin, next, Math.min(size - blocks.size(block), blocks.size(next)))) return NONE;
    block = next;
  }
  bin.free.remove(block);
  return block;
}

/** Gives back the whole pages inside a free block; the parts before and after them stay free. */
export function unmap(heap: Heap, bin: Bin, block: number): void {
  const { blocks } = heap;
  const page = heap.page(bin.pool);
  const base = blocks.base(block);
  const address = blocks.address(block);
  const size = blocks.size(block);
  const begin = base + Math.ceil((address - base) / page) * page;
  const end = base + Math.floor((address + size - base) / page) * page;
  if (begin >= end) return;
  bin.free.remove(block);
  if (begin > address) {
    const before = blocks.create(address, begin - address, bin.index, base);
    blocks.link(blocks.prev(block), before, block);
    heap.insertFree(before);
  }
  if (end < address + size) {
    const after = blocks.create(end, address + size - end, bin.index, base);
    blocks.link(block, after, blocks.next(block));
    heap.insertFree(after);
  }
  blocks.setAddress(block, begin);
  blocks.setSize(block, end - begin);
  blocks.setMapped(block, false);
  heap.merge(block, blocks.prev(block));
  heap.merge(block, blocks.next(block));
  heap.insertUnmapped(block);
  heap.gave("segment_unmap", begin, end - begin, bin.stream);
  if (!blocks.isSplit(block)) {
    heap.removeUnmapped(block);
    blocks.drop(block);
  }
}
