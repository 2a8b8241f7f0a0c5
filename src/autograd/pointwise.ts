import { type Dtype, promote } from "./dtype.ts";
import { type Tensor, contiguousStrides, isContiguous } from "./tensor.ts";
import type { Torch } from "./torch.ts";
import { passed, to } from "./views.ts";

function broadcast(a: readonly number[], b: readonly number[]): readonly number[] {
  if (a.length === b.length && a.every((n, d) => n === b[d])) return a;
  const rank = Math.max(a.length, b.length);
  const out: number[] = [];
  for (let d = 0; d < rank; d++) {
    const n = a[d - (rank - a.length)] ?? 1;
    const m = b[d - (rank - b.length)] ?? 1;
    out.push(n === 1 ? m : n);
  }
  return out;
}

/**
 * The layout TensorIterator gives a result: contiguous when the operands are, else the dimension order of the
 * operands' strides, the first operand that can tell deciding (TensorIterator::reorder_dimensions).
 */
function resultStrides(inputs: readonly Tensor[], shape: readonly number[]): number[] {
  if (
    inputs.every(
      (t) => t.shape.length === shape.length && isContiguous(t) && t.shape.every((n, d) => n === shape[d]),
    )
  ) {
    return contiguousStrides(shape);
  }
  const rank = shape.length;
  const strides = inputs.map((t) => {
    const pad = rank - t.shape.length;
    return shape.map((n, d) => (d < pad || (t.shape[d - pad] === 1 && n !== 1) ? 0 : t.strides[d - pad]!));
  });
  // 1: a is inner to b; -1: outer; 0: cannot tell.
  const compare = (a: number, b: number): number => {
    for (const s of strides) {
      const sa = s[a]!;
      const sb = s[b]!;
      if (sa === 0 || sb === 0) continue;
      if (sa < sb) return -1;
      if (sa > sb) return 1;
      if (shape[a]! > shape[b]!) return 1;
    }
    return 0;
  };
  const order = Array.from({ length: rank }, (_, i) => rank - 1 - i);
  for (let i = 1; i < rank; i++) {
    let at = i;
    for (let j = i - 1; j >= 0; j--) {
      const relation = compare(order[j]!, order[at]!);
      if (relation > 0) {
        [order[j], order[at]] = [order[at]!, order[j]!];
        at = j;
      } else if (relation < 0) break;
    }
  }
  const out = new Array<number>(rank);
  let step = 1;
  for (const d of order) {
    out[d] = step;
    step *= shape[d]!;
  }
  return out;
}

export function raw(torch: Torch, inputs: readonly Tensor[], shape: readonly number[], dtype: Dtype): Tensor {
  return torch.empty(shape, dtype, undefined, resultStrides(inputs, shape));
}

function times(torch: Torch, a: Tensor, b: Tensor): Tensor {
  return raw(torch, [a, b], broadcast(a.shape, b.shape), promote2(a, b));
}

/** Result type: a zero-dimensional tensor does not widen a dimensioned one of the same category. */
function promote2(a: Tensor, b: Tensor): Dtype {
  if (a.shape.length === 0 && b.shape.length > 0) return b.dtype;
  if (b.shape.length === 0 && a.shape.length > 0) return a.dtype;
  return promote(a.dtype, b.dtype);
}

export function mul(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const tracked = torch.tracks([a, b]);
  const saved = tracked ? torch.save([...(b.requiresGrad ? [a] : []), ...(a.requiresGrad ? [b] : [])]) : [];
  const out = times(torch, a, b);
  if (tracked) {
    torch.record("MulBackward", [out], [a, b], saved, ([g], needs) => {
      const gb = needs[1] ? times(torch, g!, a) : null;
      const ga = needs[0] ? times(torch, g!, b) : null;
      return [ga, gb];
    });
  }
  torch.consume(a);
  torch.consume(b);
  return out;
}

/** `a / b` where b carries no gradient. */
export function divideBy(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const tracked = torch.tracks([a]);
  const saved = tracked ? torch.save([b]) : [];
  const out = times(torch, a, b);
  if (tracked) torch.record("DivBackward", [out], [a, null], saved, ([g]) => [times(torch, g!, b), null]);
  torch.consume(a);
  torch.consume(b);
  return out;
}

export function add(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const out = raw(torch, [a, b], broadcast(a.shape, b.shape), promote2(a, b));
  if (torch.tracks([a, b])) {
    torch.record("AddBackward", [out], [a, b], [], ([g], needs) => [
      needs[0] ? passed(torch, g!) : null,
      needs[1] ? passed(torch, g!) : null,
    ]);
  }
  torch.consume(a);
  torch.consume(b);
  return out;
}

/** `x.op_(…)` on a result nobody else holds: same memory, the graph goes on from the new node. */
export function addInPlace(torch: Torch, a: Tensor, b: Tensor): Tensor {
  const out = torch.alias(a, a.shape, a.strides);
  if (torch.tracks([a, b])) {
    torch.record("AddBackward", [out], [a, b], [], ([g], needs) => [
      needs[0] ? passed(torch, g!) : null,
      needs[1] ? passed(torch, g!) : null,
    ]);
  }
  torch.consume(a);
  torch.consume(b);
  return out;
}

/** A unary op or an op with a Python scalar whose gradient is one fresh tensor. */
export function unary(
  torch: Torch,
  name: string,
  x: Tensor,
  saves: "input" | "output" | "nothing",
  dtype: Dtype = x.dtype,
  back: (g: Tensor, x: Tensor, out: Tensor) => Tensor = (g) => raw(torch, [g], g.shape, g.dtype),
): Tensor {
  const tracked = torch.tracks([x]);
  const before = tracked && saves === "input" ? torch.save([x]) : [];
  const out = raw(torch, [x], x.shape, dtype);
  if (tracked) {
    const saved = saves === "output" ? torch.save([out]) : before;
    torch.record(name, [out], [x], saved, ([g]) => [back(g!, x, out)]);
  }
  torch.consume(x);
  return out;
}

export const scale = (torch: Torch, x: Tensor): Tensor => unary(torch, "MulBackward", x, "nothing");
export const neg = (torch: Torch, x: Tensor): Tensor => unary(torch, "NegBackward", x, "nothing");
export const shift = (torch: Torch, x: Tensor): Tensor =>
  unary(torch, "AddBackward", x, "nothing", x.dtype, (g) => passed(torch, g));
export const silu = (torch: Torch, x: Tensor): Tensor => unary(torch, "SiluBackward", x, "input");
export const gelu = (torch: Torch, x: Tensor): Tensor => unary(torch, "GeluBackward", x, "input");
export const relu = (torch: Torch, x: Tensor): Tensor => unary(torch, "ReluBackward", x, "output");
export const tanh = (torch: Torch, x: Tensor): Tensor => unary(torch, "TanhBackward", x, "output");
export const sigmoid = (torch: Torch, x: Tensor): Tensor => unary(torch, "SigmoidBackward", x, "output");

/** pow, under autocast in fp32 (the fp32 list of autocast_mode.h). Backward holds two temporaries at once. */
export function pow(torch: Torch, x: Tensor): Tensor {
  const input = torch.autocast && x.dtype !== "fp32" ? to(torch, x, "fp32") : x;
  return unary(torch, "PowBackward", input, "input", input.dtype, (g, x) => {
    const power = raw(torch, [x], x.shape, x.dtype);
    const scaled = raw(torch, [power], x.shape, x.dtype);
    const out = times(torch, g, scaled);
    torch.consume(scaled);
    torch.consume(power);
    return out;
  });
}

/** rsqrt: backward is -0.5 · grad · result³. */
export function rsqrt(torch: Torch, x: Tensor): Tensor {
  const input = torch.autocast && x.dtype !== "fp32" ? to(torch, x, "fp32") : x;
  return unary(torch, "RsqrtBackward", input, "output", input.dtype, (g, _x, out) => {
    const half = raw(torch, [g], g.shape, g.dtype);
    const cube = raw(torch, [out], out.shape, out.dtype);
    const result = times(torch, half, cube);
    torch.consume(cube);
    torch.consume(half);
    return result;
  });
}

/** `x.mean(-1, keepdim=True)`: backward divides the expanded gradient. */
export function meanLast(torch: Torch, x: Tensor): Tensor {
  const shape = [...x.shape.slice(0, -1), 1];
  const out = torch.empty(shape, x.dtype);
  if (torch.tracks([x])) {
    torch.record("MeanBackward", [out], [x], [], ([g]) => [torch.empty(x.shape, g!.dtype)]);
  }
  torch.consume(x);
  return out;
}

/** `F.dropout(x, p, training=True)`: keeps a boolean mask. p = 0 returns its input. */
export function dropout(torch: Torch, x: Tensor, p: number): Tensor {
  if (p === 0) return x;
  const mask = torch.empty(x.shape, "bool");
  const out = raw(torch, [x], x.shape, x.dtype);
  if (torch.tracks([x])) {
    torch.record("NativeDropoutBackward", [out], [x], torch.save([mask]), ([g]) => [
      raw(torch, [g!], g!.shape, g!.dtype),
    ]);
  }
  torch.consume(mask);
  torch.consume(x);
  return out;
}

/**
 * `torch.fake_quantize_per_tensor_affine`: a rounded copy and a boolean mask of what was in range. The bit-width
 * changes the numbers, not the memory.
 */
export function fakeQuantize(torch: Torch, x: Tensor): Tensor {
  const out = raw(torch, [x], x.shape, x.dtype);
  const mask = torch.empty(x.shape, "bool");
  if (torch.tracks([x])) {
    torch.record("FakeQuantizeBackward", [out], [x], torch.save([mask]), ([g]) => [
      raw(torch, [g!], g!.shape, g!.dtype),
    ]);
  }
  torch.consume(mask);
  torch.consume(x);
  return out;
}

/** Softmax over the last dimension. Autocast and `dtype=` both convert the input first. */
export function softmax(torch: Torch, x: Tensor, dtype: Dtype | null): Tensor {
  const wanted = dtype ?? (torch.autocast ? "fp32" : x.dtype);
  // A half input is converted inside the kernel (aten/src/ATen/native/SoftMax.cpp); bfloat16 is not.
  const fused = x.dtype === "fp16" && wanted === "fp32" && !torch.autocast;
  const input = fused ? x : to(torch, x, wanted);
  const out = torch.empty(input.shape, wanted);
  if (torch.tracks([input])) {
    torch.record("SoftmaxBackward", [out], [input], torch.save([out]), ([g]) => {
      const result = torch.empty(g!.shape, input.dtype);
      // The CUDA kernel is given grad · output as a tensor of its own (SoftMax.cu).
      torch.consume(torch.empty(g!.shape, g!.dtype));
      return [result];
    });
  }
  torch.consume(input);
  return out;
}
