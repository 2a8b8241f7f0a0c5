import { eagerAttention, flashAttention2, sdpa } from "../autograd/attention.ts";
import { add } from "../autograd/pointwise.ts";
import { repeatKv } from "../autograd/repeat-kv.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { cat, contiguous, transpose } from "../autograd/views.ts";
import type { HeadShape } from "./config.ts";
import type { Forward } from "./net.ts";

type Heads = Omit<HeadShape, "size">;

/**
 * DynamicCache.update: the first call concatenates with an empty tensor of the keys' type, which copies. A
 * layer with a window also moves the window's size to the device. Keys and values are locals of the caller and
 * are rebound.
 */
export function cached(f: Forward, k: Tensor, v: Tensor, window: number | null = null): [Tensor, Tensor] {
  if (!f.useCache) return [k, v];
  if (window !== null) {
    const size = f.torch.empty([], "int64");
    size.floating = false;
    f.outputs.push(size);
  }
  const key = cat(f.torch, [k], -2);
  const value = cat(f.torch, [v], -2, k.dtype);
  for (const t of [key, value]) {
    f.torch.ref(t);
    f.outputs.push(t);
  }
  return [f.torch.set(k, key), f.torch.set(v, value)];
}

/**
 * The attention interface: [batch, heads, seq, size] in, [batch, seq, heads, size] out. Eager attention also
 * returns its weights, which the decoder layer holds (as `_`) until it returns.
 */
export function attend(
  f: Forward,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  mask: Tensor | null,
  heads: Heads,
  softcap = false,
): readonly Tensor[] {
  const { torch } = f;
  const repeats = heads.queries / heads.keys;
  const dropout = f.training ? heads.dropout : 0;
  if (f.attention === "eager") {
    return eagerAttention(torch, q, k, v, {
      repeats,
      mask,
      dropout,
      softcap,
      addMask: (t, scores, m) => add(t, scores, m),
    });
  }
  return torch.frame(() => {
    if (f.attention === "flash_attention_2") return [flashAttention2(torch, q, k, v, dropout)];
    // Grouped keys are left to the kernel only where there is no mask (use_gqa_in_sdpa).
    const key = torch.let(repeatKv(torch, k, mask ? repeats : 1));
    const value = torch.let(repeatKv(torch, v, mask ? repeats : 1));
    const out = torch.let(sdpa(torch, q, key, value, { kernel: f.kernel, mask, dropout }));
    return [contiguous(torch, transpose(torch, out, 1, 2))];
  });
}
