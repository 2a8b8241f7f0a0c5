import { Kind } from "../tape/vocabulary.ts";
import type { Node } from "./graph.ts";
import { cast, sumTo } from "./reduce.ts";
import { type Tensor, isDense } from "./tensor.ts";
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

/** How many gradients each reachable node waits for. */
function dependencies(root: Node): Map<Node, number> {
  const counts = new Map<Node, number>([[root, 0]]);
  const work = [root];
  for (let node = work.pop(); node; node = work.pop()) {
    for (const edge of node.edges) {
      if (!edge) continue;
      const count = counts.get(edge.node);
      if (count === undefined) {
        counts.set(edge.node, 1);
        work.push(edge.node);
      } else {
        counts.set(edge.node, count + 1);
      }
    }
  }
  return counts;
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

/** Runs the graph from `root`, whose gradient is `grad` (owned by the caller's frame). */
export function runBackward(torch: Torch, root: Node, output: number, grad: Tensor): void {
  const waiting = dependencies(root);
  const buffers = new Map<Node, (Tensor | null)[]>();
  const ready = new ReadyQueue();
  const first = new Array<Tensor | null>(root.outputs).fill(null);
  torch.ref(grad);
  first[output] = grad;
  buffers.set(root, first);
  ready.push(root);
  for (let node = ready.pop(); node; node = ready.pop()) {
    const grads = buffers.get(node)!;
    buffers.delete(node);
    torch.within(node.module, () => evaluate(torch, node!, grads, waiting, buffers, ready));
  }
}

function evaluate(
  torch: Torch,
  node: Node,
  grads: (Tensor | null)[],
  waiting: Map<Node, number>,
  buffers: Map<Node, (Tensor | null)[]>,
  ready: ReadyQueue,
): void {
  if (node.leaf) {
    if (grads[0]) accumulateGrad(torch, node.leaf, grads[0]);
    return;
  }
  const needs = node.edges.map((edge) => edge !== null);
  const unpacked: { release(): void }[] = [];
  for (const saved of node.saved) {
    if ("holder" in saved) {
      const storage = saved.holder.unpack();
      unpacked.push({ release: () => torch.release(storage) });
    }
  }
  const results = grads.some((g) => g !== null) ? node.backward(grads, needs) : needs.map(() => null);
  for (const local of unpacked) local.release();
  for (let i = 0; i < results.length; i++) {
    const result = results[i];
    if (!result) continue;
    result.floating = false;
    if (!needs[i]) {
      // A kernel that computes all gradients at once: the unwanted ones die with its locals.
      torch.unref(result);
      results[i] = null;
      continue;
    }
    results[i] = validated(torch, node, i, result);
  }
  for (const g of grads) if (g) torch.unref(g);
  torch.releaseSaved(node);
  node.edges.forEach((edge, i) => {
    if (!edge) return;
    const next = edge.node;
    let buffer = buffers.get(next);
    if (!buffer) {
      buffer = new Array<Tensor | null>(next.outputs).fill(null);
      buffers.set(next, buffer);
    }
    const result = results[i];
    if (result) {
      const old = buffer[edge.output];
      buffer[edge.output] = old ? add(torch, old, result) : result;
    }
    const left = waiting.get(next)! - 1;
    waiting.set(next, left);
    if (left === 0) ready.push(next);
  });
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
