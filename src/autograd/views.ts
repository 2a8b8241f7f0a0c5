import { assert } from "../base/errors.ts";
import type { Dtype } from "./dtype.ts";
import { type Tensor, contiguousStrides, isContiguous, isDense, numel, viewStrides } from "./tensor.ts";
import type { Torch } from "./torch.ts";

/** Makes a view and, where gradients flow, the node that maps the gradient back. */
function viewed(
  torch: Torch,
  name: string,
  x: Tensor,
  shape: readonly number[],
  strides: readonly number[],
  back: (grad: Tensor) => Tensor,
): Tensor {
  const out = torch.alias(x, shape, strides);
  if (torch.tracks([x])) torch.record(name, [out], [x], [], ([g]) => [back(g!)]);
  torch.consume(x);
  return out;
}

/** A reshape outside autograd: the gradient's view, or its contiguous copy. */
function reshaped(torch: Torch, t: Tensor, shape: readonly number[]): Tensor {
  const strides = viewStrides(t.shape, t.strides, shape);
  return strides ? torch.alias(t, shape, strides) : torch.empty(shape, t.dtype);
}

/** Fills in a -1. */
function resolve(shape: readonly number[], total: number): readonly number[] {
  const at = shape.indexOf(-1);
  if (at < 0) return shape;
  const known = -numel(shape);
  return shape.map((n) => (n === -1 ? total / known : n));
}

/** `x.view(shape)`. */
export function view(torch: Torch, x: Tensor, wanted: readonly number[]): Tensor {
  const shape = resolve(wanted, numel(x.shape));
  const strides = viewStrides(x.shape, x.strides, shape);
  assert(strides, `view of ${x.shape} as ${shape} needs a copy`);
  return viewed(torch, "ViewBackward", x, shape, strides, (g) => reshaped(torch, g, x.shape));
}

/** `x.reshape(shape)`: a view where strides allow, else a contiguous copy. */
export function reshape(torch: Torch, x: Tensor, wanted: readonly number[]): Tensor {
  const shape = resolve(wanted, numel(x.shape));
  const strides = viewStrides(x.shape, x.strides, shape);
  if (strides) return viewed(torch, "ViewBackward", x, shape, strides, (g) => reshaped(torch, g, x.shape));
  return view(torch, contiguous(torch, x), shape);
}

export function transpose(torch: Torch, x: Tensor, a: number, b: number): Tensor {
  const swap = (list: readonly number[]): number[] => {
    const out = [...list];
    const i = a < 0 ? a + list.length : a;
    const j = b < 0 ? b + list.length : b;
    [out[i], out[j]] = [out[j]!, out[i]!];
    return out;
  };
  return viewed(torch, "TransposeBackward", x, swap(x.shape), swap(x.strides), (g) =>
    torch.alias(g, swap(g.shape), swap(g.strides)),
  );
}

export function permute(torch: Torch, x: Tensor, order: readonly number[]): Tensor {
  const apply = (list: readonly number[]): number[] => order.map((d) => list[d]!);
  const inverse = order.map((_, d) => order.indexOf(d));
  return viewed(torch, "PermuteBackward", x, apply(x.shape), apply(x.strides), (g) =>
    torch.alias(
      g,
      inverse.map((d) => g.shape[d]!),
      inverse.map((d) => g.strides[d]!),
    ),
  );
}

export function unsqueeze(torch: Torch, x: Tensor, dim: number): Tensor {
  const at = dim < 0 ? dim + x.shape.length + 1 : dim;
  const shape = [...x.shape.slice(0, at), 1, ...x.shape.slice(at)];
  const inner = at < x.shape.length ? x.shape[at]! * x.strides[at]! : 1;
  const strides = [...x.strides.slice(0, at), inner, ...x.strides.slice(at)];
  const without = (list: readonly number[]): number[] => list.filter((_, d) => d !== at);
  return viewed(torch, "UnsqueezeBackward", x, shape, strides, (g) =>
    torch.alias(g, without(g.shape), without(g.strides)),
  );
}

/** `x.expand(shape)`: broadcast dimensions get stride 0; the gradient is summed over them. */
export function expand(torch: Torch, x: Tensor, shape: readonly number[]): Tensor {
  const pad = shape.length - x.shape.length;
  const strides = shape.map((n, d) =>
    d < pad || (x.shape[d - pad] === 1 && n !== 1) ? 0 : x.strides[d - pad]!,
  );
  return viewed(torch, "ExpandBackward", x, shape, strides, (g) =>
    numel(g.shape) === numel(x.shape)
      ? torch.alias(g, x.shape, contiguousStrides(x.shape))
      : torch.empty(x.shape, g.dtype),
  );
}

/** `x[..., from:to]` along `dim`. Backward zero-fills a full-size gradient (slice_backward). */
export function slice(torch: Torch, x: Tensor, dim: number, from: number, to: number): Tensor {
  const at = dim < 0 ? dim + x.shape.length : dim;
  const shape = x.shape.map((n, d) => (d === at ? to - from : n));
  // Indexing with the whole range gives an alias, whose gradient is the gradient (python_variable_indexing.cpp).
  if (from === 0 && to === x.shape[at]) {
    return viewed(torch, "AliasBackward", x, shape, x.strides, (g) => passed(torch, g));
  }
  return viewed(torch, "SliceBackward", x, shape, x.strides, (g) => torch.empty(x.shape, g.dtype));
}

/** `x.select(dim, i)`, an integer index: backward zero-fills a full-size gradient (select_backward). */
export function select(torch: Torch, x: Tensor, dim: number): Tensor {
  const at = dim < 0 ? dim + x.shape.length : dim;
  const without = (list: readonly number[]): number[] => list.filter((_, d) => d !== at);
  return viewed(torch, "SelectBackward", x, without(x.shape), without(x.strides), (g) =>
    torch.empty(x.shape, g.dtype),
  );
}

/** `x.split(sizes, dim)` / `x.chunk`: views whose gradients meet in one node, which concatenates them. */
export function split(torch: Torch, x: Tensor, sizes: readonly number[], dim: number): Tensor[] {
  const at = dim < 0 ? dim + x.shape.length : dim;
  const outs = sizes.map((size) =>
    torch.alias(
      x,
      x.shape.map((n, d) => (d === at ? size : n)),
      x.strides,
    ),
  );
  if (torch.tracks([x])) {
    torch.record("SplitBackward", outs, [x], [], (grads) => {
      // split_backward replaces an undefined gradient by zeros, then concatenates.
      const zeros = grads.map((g, i) => (g ? null : torch.empty(outs[i]!.shape, x.dtype)));
      const out = torch.empty(x.shape, x.dtype);
      for (const z of zeros) if (z) torch.consume(z);
      return [out];
    });
  }
  torch.consume(x);
  return outs;
}

/** `torch.cat`: always a copy; the gradient goes back as views of one tensor. */
export function cat(torch: Torch, xs: readonly Tensor[], dim: number, dtype = xs[0]!.dtype): Tensor {
  const first = xs[0]!;
  const at = dim < 0 ? dim + first.shape.length : dim;
  const total = xs.reduce((n, x) => n + x.shape[at]!, 0);
  const out = torch.empty(
    first.shape.map((n, d) => (d === at ? total : n)),
    dtype,
  );
  if (torch.tracks(xs)) {
    torch.record("CatBackward", [out], xs, [], ([g], needs) =>
      xs.map((x, i) => (needs[i] ? torch.alias(g!, x.shape, g!.strides) : null)),
    );
  }
  for (const x of xs) torch.consume(x);
  return out;
}

/** `x.contiguous()`: itself where it is contiguous already. */
export function contiguous(torch: Torch, x: Tensor): Tensor {
  return isContiguous(x) ? x : clone(torch, x, contiguousStrides(x.shape));
}

export function clone(torch: Torch, x: Tensor, strides?: number[]): Tensor {
  const out = torch.empty(
    x.shape,
    x.dtype,
    undefined,
    strides ?? (isDense(x) ? [...x.strides] : contiguousStrides(x.shape)),
  );
  if (torch.tracks([x])) torch.record("CloneBackward", [out], [x], [], ([g]) => [passed(torch, g!)]);
  torch.consume(x);
  return out;
}

/** `x.to(dtype)`: itself where nothing changes. */
export function to(torch: Torch, x: Tensor, dtype: Dtype): Tensor {
  if (x.dtype === dtype) return x;
  const out = converted(torch, x, dtype);
  if (torch.tracks([x])) {
    torch.record("ToCopyBackward", [out], [x], [], ([g]) => [
      g!.dtype === x.dtype ? passed(torch, g!) : converted(torch, g!, x.dtype),
    ]);
  }
  torch.consume(x);
  return out;
}

function converted(torch: Torch, x: Tensor, dtype: Dtype): Tensor {
  return torch.empty(x.shape, dtype, undefined, isDense(x) ? [...x.strides] : contiguousStrides(x.shape));
}

/** The same gradient, handed on. */
export function passed(torch: Torch, g: Tensor): Tensor {
  torch.ref(g);
  return g;
}
