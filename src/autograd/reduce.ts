import { Kind } from "../tape/vocabulary.ts";
import { type Dtype, sizeOf } from "./dtype.ts";
import { type Tensor, contiguousStrides, isDense, numel } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** `grad.to(dtype)` outside autograd. */
export function cast(torch: Torch, t: Tensor, dtype: Dtype): Tensor {
  return torch.empty(t.shape, dtype, undefined, isDense(t) ? [...t.strides] : contiguousStrides(t.shape));
}

/** at::sum_to: sums over broadcast dimensions; a mere reshape where nothing is summed. */
export function sumTo(torch: Torch, t: Tensor, shape: readonly number[]): Tensor {
  if (numel(t.shape) === numel(shape)) return torch.alias(t, shape, contiguousStrides(shape));
  const out = torch.empty(shape, t.dtype);
  const alongLast = shape.length > 0 && shape[shape.length - 1] === t.shape[t.shape.length - 1];
  if (alongLast) reduceScratch(torch, numel(shape), numel(t.shape) / numel(shape), sizeOf(t.dtype));
  if (shape.length === t.shape.length) return out;
  // Dropped leading dimensions are viewed away after a sum that kept them.
  const viewed = torch.alias(out, shape, contiguousStrides(shape));
  torch.consume(out);
  return viewed;
}

const lastPowerOfTwo = (n: number): number => 2 ** Math.floor(Math.log2(n));

/** Streaming multiprocessors of an H100 or H200, and the threads each can hold. */
export const MULTIPROCESSORS = 132;
const THREADS_A_MULTIPROCESSOR = 2048;
/** An input with offsets beyond 32 bits is taken in halves (TensorIterator's with_32bit_indexing). */
const LARGEST_OFFSET = 2 ** 31 - 1;

/**
 * A sum of many values into few: blocks that share an output meet in a buffer in global memory. The constants
 * and the arithmetic are setReduceConfig's and ReduceConfig::global_memory_size's (aten/src/ATen/native/cuda/
 * Reduce.cuh), for outputs that lie along the fastest dimension, accumulated in fp32.
 */
export function reduceScratch(torch: Torch, outputs: number, inputs: number, size = 4): void {
  if (outputs * inputs * size > LARGEST_OFFSET) {
    const half = Math.floor(inputs / 2);
    for (const part of [half, inputs - half]) reduceScratch(torch, outputs, part, size);
    return;
  }
  let vector = 4;
  while (outputs % vector !== 0) vector /= 2;
  const threads = 512 / vector;
  const across = outputs / vector;
  const wide = Math.min(lastPowerOfTwo(across), threads);
  const high = Math.min(lastPowerOfTwo(inputs), threads);
  let width = Math.min(wide, 32);
  const height = Math.min(high, threads / width);
  width = Math.min(wide, threads / height);
  if (inputs < Math.min(height * 16, 256)) return;
  const grid = Math.ceil(across / width);
  const blocks = blocksAnOutput(Math.ceil(inputs / height), grid, width * height);
  if (blocks > 1) shareOutputs(torch, 4 * outputs * blocks * width * vector, grid);
}

/** The same for a sum of everything into one number, or a norm. */
export function reduceAllScratch(torch: Torch, inputs: number, size = 4): void {
  if (inputs * size > LARGEST_OFFSET) {
    const half = Math.floor(inputs / 2);
    for (const part of [half, inputs - half]) reduceAllScratch(torch, part, size);
    return;
  }
  const width = Math.min(lastPowerOfTwo(inputs > 128 ? inputs / 4 : inputs), 512);
  const blocks = blocksAnOutput(Math.ceil(inputs / width), 1, width);
  if (blocks > 1) shareOutputs(torch, 4 * blocks, 1);
}

function blocksAnOutput(values: number, grid: number, threads: number): number {
  const target = MULTIPROCESSORS * Math.floor(THREADS_A_MULTIPROCESSOR / threads);
  if (values < 256 || grid > target) return 1;
  return Math.max(Math.min(Math.ceil(target / grid), Math.ceil(values / 16)), Math.ceil(values / 256));
}

function shareOutputs(torch: Torch, bytes: number, grid: number): void {
  const buffer = torch.storage(bytes, Kind.workspace);
  torch.retain(buffer);
  const semaphores = torch.storage(4 * grid, Kind.workspace);
  torch.retain(semaphores);
  torch.release(semaphores);
  torch.release(buffer);
}
