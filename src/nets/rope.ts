import { bmm } from "../autograd/matmul.ts";
import { add, mul, neg, scale, unary } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { cat, expand, slice, to, transpose, unsqueeze } from "../autograd/views.ts";
import { Kind } from "../tape/vocabulary.ts";
import type { Builder } from "./layers.ts";

export interface Rope {
  readonly frequencies: Tensor;
  readonly size: number;
}

/** The rotary module's buffers: inv_freq and its original, made with a handful of tiny temporaries. */
export function buildRope(b: Builder, size: number): Rope {
  const frequencies = b.buffer([size / 2], "fp32");
  b.buffer([size / 2], "fp32");
  return { frequencies, size };
}

/** cos and sin for the positions, in the model's type; computed in fp32 without autocast or gradients. */
export function rotary(
  torch: Torch,
  rope: Rope,
  positions: Tensor,
  dtype: Tensor["dtype"],
): readonly Tensor[] {
  const autocast = torch.autocast;
  torch.autocast = null;
  try {
    return torch.noGrad(() =>
      torch.module("rotary_emb", [positions], () => {
        const half = rope.size / 2;
        const frequencies = torch.let(
          expand(torch, unsqueeze(torch, unsqueeze(torch, rope.frequencies, 0), -1), [1, half, 1]),
        );
        const places = torch.let(to(torch, unsqueeze(torch, positions, 1), "fp32"));
        const angles = torch.let(transpose(torch, bmm(torch, frequencies, places), 1, 2));
        const both = torch.let(cat(torch, [angles, angles], -1));
        const cos = torch.let(scale(torch, unary(torch, "Cos", both, "nothing")));
        const sin = torch.let(scale(torch, unary(torch, "Sin", both, "nothing")));
        return [to(torch, cos, dtype), to(torch, sin, dtype)];
      }),
    );
  } finally {
    torch.autocast = autocast;
  }
}

function rotateHalf(torch: Torch, x: Tensor): Tensor {
  return torch.frame(() => {
    const half = x.shape[x.shape.length - 1]! / 2;
    const first = torch.let(slice(torch, x, -1, 0, half));
    const second = torch.let(slice(torch, x, -1, half, 2 * half));
    return cat(torch, [neg(torch, second), first], -1);
  });
}

/** `x * cos + rotate_half(x) * sin` for one of q and k. */
export function rotated(torch: Torch, x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  return add(torch, mul(torch, x, cos), mul(torch, rotateHalf(torch, x), sin));
}

/** How q and k are turned by their positions, in the attention's own frame. */
export type Rotate = (torch: Torch, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) => readonly Tensor[];

/** apply_rotary_pos_emb: both stay until both are done. */
export const applyRotary: Rotate = (torch, q, k, cos0, sin0) =>
  torch.frame(() => {
    const cos = torch.let(unsqueeze(torch, cos0, 1));
    const sin = torch.let(unsqueeze(torch, sin0, 1));
    const rotatedQ = torch.let(rotated(torch, q, cos, sin));
    const rotatedK = torch.let(rotated(torch, k, cos, sin));
    return [rotatedQ, rotatedK];
  });

/** OLMo 2: cos and sin stay in fp32, so that the products are; q and k are cast back after. */
export const applyRotaryWide: Rotate = (torch, q, k, cos, sin) =>
  torch.frame(() => {
    const wide = applyRotary(torch, q, k, cos, sin) as [Tensor, Tensor];
    for (const t of wide) torch.let(t);
    return [to(torch, wide[0], q.dtype), to(torch, wide[1], k.dtype)];
  });

/** Phi-3: the first numbers of a head are turned, the rest (often none) passed on, both concatenated. */
export const applyRotaryPartly: Rotate = (torch, q, k, cos0, sin0) =>
  torch.frame(() => {
    const cos = torch.let(unsqueeze(torch, cos0, 1));
    const sin = torch.let(unsqueeze(torch, sin0, 1));
    const turned = cos.shape[cos.shape.length - 1]!;
    const [qTurned, qPassed] = parted(torch, q, turned);
    const [kTurned, kPassed] = parted(torch, k, turned);
    const join = (x: Tensor, passed: Tensor): Tensor =>
      torch.let(cat(torch, [rotated(torch, x, cos, sin), passed], -1));
    return [join(qTurned, qPassed), join(kTurned, kPassed)];
  });

/** StableLM: as Phi-3, but the parts are locals of the attention and live until it returns. */
export const rotateInline: Rotate = (torch, q, k, cos, sin) => {
  const turned = cos.shape[cos.shape.length - 1]!;
  const [qTurned, qPassed] = parted(torch, q, turned);
  const [kTurned, kPassed] = parted(torch, k, turned);
  const [rq, rk] = applyRotary(torch, qTurned, kTurned, cos, sin) as [Tensor, Tensor];
  torch.set(qTurned, rq);
  torch.set(kTurned, rk);
  return [cat(torch, [rq, qPassed], -1), cat(torch, [rk, kPassed], -1)];
};

function parted(torch: Torch, x: Tensor, at: number): readonly [Tensor, Tensor] {
  const size = x.shape[x.shape.length - 1]!;
  return [torch.let(slice(torch, x, -1, 0, at)), torch.let(slice(torch, x, -1, at, size))];
}

/** `torch.arange(seq) + past`, unsqueezed: positions on the device. */
export function positionIds(torch: Torch, length: number): Tensor {
  const range = torch.empty([length], "int64", Kind.input);
  const shifted = torch.empty([length], "int64", Kind.input);
  torch.consume(range);
  return unsqueeze(torch, shifted, 0);
}
