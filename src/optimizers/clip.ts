import type { Dtype } from "../autograd/dtype.ts";
import { type Tensor, numel } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";

/** Elements a multi-tensor kernel takes at a time (kChunkSize in MultiTensorApply.cuh). */
const CHUNK = 65_536;

/** `clip_grad_norm_`: one norm a gradient, by foreach; the gradients are scaled in place. */
export function clipGradients(torch: Torch, parameters: readonly Tensor[]): void {
  const grads = parameters.flatMap((p) => (p.grad ? [p.grad] : []));
  if (grads.length === 0) return;
  const norms: Tensor[] = [];
  for (const [dtype, group] of byDtype(grads)) {
    const chunks = Math.max(...group.map((g) => Math.ceil(numel(g.shape) / CHUNK)));
    const partial = torch.empty([group.length, chunks], "fp32");
    for (let i = 0; i < group.length; i++) norms.push(torch.empty([], dtype));
    torch.consume(partial);
  }
  const dtype = grads[0]!.dtype;
  const stacked = torch.empty([norms.length], dtype);
  const total = torch.empty([], dtype);
  torch.consume(stacked);
  for (const norm of norms.reverse()) torch.consume(norm);
  const shifted = torch.empty([], dtype);
  const inverse = torch.empty([], dtype);
  const scaled = torch.empty([], dtype);
  torch.consume(inverse);
  torch.consume(shifted);
  const clamped = torch.empty([], dtype);
  for (const t of [scaled, clamped, total]) torch.consume(t);
}

function byDtype(grads: readonly Tensor[]): Map<Dtype, Tensor[]> {
  const groups = new Map<Dtype, Tensor[]>();
  for (const g of grads) {
    const group = groups.get(g.dtype);
    if (group) group.push(g);
    else groups.set(g.dtype, [g]);
  }
  return groups;
}
