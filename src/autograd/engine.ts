import { Kind } from "../tape/vocabulary.ts";
import { type Node, isHolder } from "./graph.ts";
import { cast, sumTo } from "./reduce.ts";
import { type Storage, type Tensor, isDense } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** Ready nodes, youngest first (ReadyQueue's comparator in torch/csrc/autograd/engine.cpp). */
class ReadyQueue {
  readonly #heap: Node[] = [];

  push(node: Node): void {
    const heap = this.#heap;
    let at = heap.push(node) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (heap[up]!.sequence >= node.sequence) break;
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = node;
  }

  pop(): Node | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (!top || !last || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.sequence > heap[child]!.sequence) child++;
      if (heap[child]!.sequence <= last.sequence) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

/** Counts the gradients each reachable node waits for. */
function countDependencies(root: Node): void {
  root.waiting = 0;
  const seen = new Set<Node>([root]);
  const work = [root];
  for (let node = work.pop(); node; node = work.pop()) {
    for (const edge of node.edges) {
      if (!edge) continue;
      const next = edge.node;
      if (seen.has(next)) {
        next.waiting++;
        continue;
      }
      seen.add(next);
      next.waiting = 1;
      work.push(next);
    }
  }
}

/**
 * `can_accumulate_inplace` (input_buffer.cpp): the buffer owns the last reference to the gradient and its
 * storage. A view never qualifies: its view metadata holds the base.
 */
function accumulatesInPlace(t: Tensor): boolean {
  return t.refs === 1 && !t.isView && t.storage.refs === 1 && isDense(t);
}

function add(torch: Torch, old: Tensor, value: Tensor): Tensor {
  if (accumulatesInPlace(old)) {
    torch.unref(value);
    return old;
  }
  const sum = torch.empty(old.shape, old.dtype, Kind.temporary);
  sum.floating = false;
  torch.unref(old);
  torch.unref(value);
  return sum;
}

/** What a leaf does with its gradient (accumulate_grad.h): steal it, copy it, or add it in place. */
function accumulateGrad(torch: Torch, leaf: Tensor, grad: Tensor): void {
  if (leaf.grad) {
    torch.unref(grad);
  } else {
    const layoutFits = grad.strides.every((s, d) => s === leaf.strides[d] || leaf.shape[d] === 1);
    if (grad.refs === 1 && layoutFits) {
      leaf.grad = grad;
    } else {
      leaf.grad = torch.empty(leaf.shape, grad.dtype, Kind.gradient, [...leaf.strides]);
      leaf.grad.floating = false;
      torch.unref(grad);
    }
    torch.classify(leaf.grad.storage, Kind.gradient);
  }
  torch.onGradient?.(leaf);
}

/** A gradient to begin with, and the node and output it belongs to. */
export interface Root {
  readonly node: Node;
  readonly output: number;
  readonly grad: Tensor;
}

/**
 * Runs the graph from `root`, whose gradient is `grad` (owned by the caller's frame). `inner` are further roots
 * that the first leads to.
 */
export function runBackward(
  torch: Torch,
  root: Node,
  output: number,
  grad: Tensor,
  inner: readonly Root[] = [],
): void {
  countDependencies(root);
  for (const { node, output: at, grad: given } of [{ node: root, output, grad }, ...inner]) {
    torch.ref(given);
    node.buffer ??= new Array<Tensor | null>(node.outputs).fill(null);
    node.buffer[at] = given;
  }
  const ready = new ReadyQueue();
  ready.push(root);
  for (let node = ready.pop(); node; node = ready.pop()) {
    const grads = node.buffer ?? [];
    node.buffer = null;
    if (!node.leaf) torch.atLayer(node.layer);
    torch.enter(node.module);
    node.before?.();
    evaluate(torch, node, grads, ready);
    torch.leave();
  }
}

function evaluate(torch: Torch, node: Node, grads: (Tensor | null)[], ready: ReadyQueue): void {
  if (node.leaf) {
    if (grads[0]) accumulateGrad(torch, node.leaf, grads[0]);
    return;
  }
  const { edges } = node;
  const count = edges.length;
  const needs = new Array<boolean>(count);
  for (let i = 0; i < count; i++) needs[i] = edges[i] !== null;
  let unpacked: Storage[] | null = null;
  for (const saved of node.saved) if (isHolder(saved)) (unpacked ??= []).push(saved.unpack());
  let given = false;
  for (const g of grads) if (g) given = true;
  const results: (Tensor | null)[] = given ? node.backward(grads, needs) : [];
  if (unpacked) for (const storage of unpacked) torch.release(storage);
  for (let i = 0; i < results.length; i++) {
    const result = results[i];
    if (!result) continue;
    result.floating = false;
    if (needs[i]) {
      results[i] = validated(torch, node, i, result);
    } else {
      // A kernel that computes all gradients at once: the unwanted ones die with its locals.
      torch.unref(result);
      results[i] = null;
    }
  }
  for (const g of grads) if (g) torch.unref(g);
  torch.releaseSaved(node);
  for (let i = 0; i < count; i++) {
    const edge = edges[i];
    if (!edge) continue;
    const next = edge.node;
    const result = results[i];
    if (result) {
      const old = next.buffer ? next.buffer[edge.output] : null;
      next.buffer ??= new Array<Tensor | null>(next.outputs).fill(null);
      next.buffer[edge.output] = old ? add(torch, old, result) : result;
    }
    if (--next.waiting === 0) ready.push(next);
  }
}

/** validate_outputs: a gradient takes the shape and dtype of the input it belongs to. */
function validated(torch: Torch, node: Node, index: number, grad: Tensor): Tensor {
  const meta = node.inputs[index];
  if (!meta) return grad;
  let out = grad;
  if (out.shape.length !== meta.shape.length || out.shape.some((n, d) => n !== meta.shape[d])) {
    const reduced = sumTo(torch, out, meta.shape);
    if (reduced !== out) torch.unref(out);
    out = reduced;
  }
  if (out.dtype !== meta.dtype) {
    const converted = cast(torch, out, meta.dtype);
    torch.unref(out);
    out = converted;
  }
  out.floating = false;
  return out;
}
