import { type Dtype, isFloating } from "./dtype.ts";
import { type Tensor, contiguousStrides, numel, viewStrides } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { contiguous, expand, passed, reshape, to, view } from "./views.ts";

/**
 * Autocast's conversion of one argument. A leaf weight that requires grad is converted once per autocast
 * block (cached_cast in autocast_mode.cpp); everything else each time.
 */
export function lowered(torch: Torch, x: Tensor): Tensor {
  const autocast = torch.autocast;
  if (!autocast || x.dtype === autocast.dtype || !isFloating(x.dtype) || x.dtype === "fp64") return x;
  const cacheable = x.dtype === "fp32" && x.requiresGrad && x.node === null && !x.isView;
  const found = cacheable ? autocast.cache.get(x) : undefined;
  if (found) return found;
  const cast = to(torch, x, autocast.dtype);
  if (cacheable) {
    cast.floating = false;
    autocast.cache.set(x, cast);
  }
  return cast;
}

/** `F.linear(x, weight, bias)`; `weight` is [out, in]. */
export function linear(torch: Torch, x: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  // The wrapper's casts are C++ call arguments: evaluated right to left.
  const b = bias ? lowered(torch, bias) : null;
  const w = lowered(torch, weight);
  const input = lowered(torch, x);
  const out = affine(torch, input, w, b, weight.shape[0]!, "out-in");
  torch.consume(w);
  torch.consume(b);
  return out;
}

/** transformers' Conv1D: `addmm(bias, x.view(-1, in), weight).view(…)`; `weight` is [in, out]. */
export function conv1d(torch: Torch, x: Tensor, weight: Tensor, bias: Tensor): Tensor {
  const w = lowered(torch, weight);
  const input = lowered(torch, x);
  const b = lowered(torch, bias);
  const out = affine(torch, input, w, b, weight.shape[1]!, "in-out");
  torch.consume(w);
  torch.consume(b);
  return out;
}

/**
 * A product with a weight matrix, the batch dimensions folded into rows. With a bias the folds are nodes of
 * their own: the weight's and the bias's gradients reach their leaves before the input's is added up. Without,
 * the input's fold is younger than the weight's transpose and one node stands for all three.
 */
function affine(
  torch: Torch,
  x: Tensor,
  w: Tensor,
  b: Tensor | null,
  features: number,
  layout: "out-in" | "in-out",
): Tensor {
  if (!b || x.shape.length === 2) return product(torch, contiguous(torch, x), w, b, features, layout);
  const shape = [...x.shape.slice(0, -1), features];
  const rows = reshape(torch, x, [-1, x.shape[x.shape.length - 1]!]);
  return view(torch, product(torch, rows, w, b, features, layout), shape);
}

/** addmm or mm over whatever dimensions stand before the last; its gradients come out as views. */
function product(
  torch: Torch,
  x: Tensor,
  w: Tensor,
  b: Tensor | null,
  features: number,
  layout: "out-in" | "in-out",
): Tensor {
  const tracked = torch.tracks([x, w, b]);
  const saved = tracked ? torch.save([...(w.requiresGrad ? [x] : []), ...(x.requiresGrad ? [w] : [])]) : [];
  const out = torch.empty([...x.shape.slice(0, -1), features], x.dtype);
  const inner = x.shape[x.shape.length - 1]!;
  const rows = numel(x.shape) / inner;
  if (b) torch.useCublasLt();
  torch.multiply(rows, features, inner, x.dtype);
  if (tracked) {
    torch.record(b ? "AddmmBackward" : "MmBackward", [out], [x, w, b], saved, (grads, needs) => {
      fold(torch, grads, features);
      const dx = (): Tensor => {
        const grad = ownedView(torch, x.shape, x.dtype);
        torch.multiply(rows, inner, features, x.dtype);
        return grad;
      };
      const dw = (): Tensor => {
        const grad = layout === "out-in" ? ownedView(torch, w.shape, w.dtype) : torch.empty(w.shape, w.dtype);
        torch.multiply(features, inner, rows, x.dtype);
        return grad;
      };
      // Generated code orders derivatives by argument name: mat1, mat2, self (the bias); without one, mat2 first.
      let gw = needs[1] && !b ? dw() : null;
      const gx = needs[0] ? dx() : null;
      if (needs[1] && b) gw = dw();
      // The bias was broadcast over the rows: the engine sums the gradient when it checks the shapes.
      return [gx, gw, needs[2] ? passed(torch, grads[0]!) : null];
    });
  }
  torch.consume(x);
  return out;
}

/** The fold's backward: a strided gradient is copied to rows, and dropped before the products are taken. */
function fold(torch: Torch, grads: (Tensor | null)[], features: number): void {
  const g = grads[0]!;
  if (g.shape.length === 2 || viewStrides(g.shape, g.strides, [numel(g.shape) / features, features])) return;
  const rows = torch.empty(g.shape, g.dtype);
  rows.floating = false;
  torch.unref(g);
  grads[0] = rows;
}

/** A fresh tensor seen through a view: its base is gone from Python but alive in the view's metadata. */
function ownedView(torch: Torch, shape: readonly number[], dtype: Dtype): Tensor {
  const base = torch.empty(shape, dtype);
  const out = torch.alias(base, shape, contiguousStrides(shape));
  torch.consume(base);
  return out;
}

/** Batched product of 4-dimensional tensors, as torch.matmul folds it to bmm: strided operands are copied. */
export function matmul(torch: Torch, a0: Tensor, b0: Tensor): Tensor {
  return torch.frame(() => {
    const b = torch.let(lowered(torch, b0));
    const a = torch.let(lowered(torch, a0));
    const batch = a.shape.slice(0, -2);
    const [n, k] = a.shape.slice(-2) as [number, number];
    const m = b.shape[b.shape.length - 1]!;
    const size = batch.reduce((x, y) => x * y, 1);
    const left = reshape(torch, expand(torch, a, [...batch, n, k]), [size, n, k]);
    const right = reshape(torch, expand(torch, b, [...batch, k, m]), [size, k, m]);
    return view(torch, bmm(torch, left, right), [...batch, n, m]);
  });
}

export function bmm(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const tracked = torch.tracks([a, b]);
  const saved = tracked ? torch.save([...(b.requiresGrad ? [a] : []), ...(a.requiresGrad ? [b] : [])]) : [];
  const out = torch.empty([a.shape[0]!, a.shape[1]!, b.shape[2]!], a.dtype);
  const [batch, n, k] = a.shape as [number, number, number];
  const m = b.shape[2]!;
  torch.multiply(n, m, k, a.dtype, batch);
  if (tracked) {
    torch.record("BmmBackward", [out], [a, b], saved, (_grads, needs) => {
      const gb = needs[1] ? torch.empty(b.shape, b.dtype) : null;
      torch.multiply(k, m, n, a.dtype, batch);
      const ga = needs[0] ? torch.empty(a.shape, a.dtype) : null;
      if (needs[0]) torch.multiply(n, k, m, a.dtype, batch);
      return [ga, gb];
    });
  }
  torch.consume(a);
  torch.consume(b);
  return out;
}

/** `bias.baddbmm(a, b, alpha=…)` with a bias that needs no gradient: each product's gradient is scaled. */
export function baddbmm(torch: Torch, bias0: Tensor, a0: Tensor, b0: Tensor): Tensor {
  const b = lowered(torch, b0);
  const a = lowered(torch, a0);
  const bias = lowered(torch, bias0);
  const tracked = torch.tracks([a, b]);
  const saved = tracked ? torch.save([...(b.requiresGrad ? [a] : []), ...(a.requiresGrad ? [b] : [])]) : [];
  const out = torch.empty([a.shape[0]!, a.shape[1]!, b.shape[2]!], a.dtype);
  torch.useCublas();
  if (tracked) {
    torch.record("BaddbmmBackward", [out], [a, b], saved, (_grads, needs) => {
      const scaled = (like: Tensor): Tensor => {
        const product = torch.empty(like.shape, like.dtype);
        torch.useCublas();
        const result = torch.empty(like.shape, like.dtype);
        torch.consume(product);
        return result;
      };
      return [needs[0] ? scaled(a) : null, needs[1] ? scaled(b) : null];
    });
  }
  for (const t of [bias, a, b]) torch.consume(t);
  return out;
}
