import { dropout } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { reshape, slice, transpose, view } from "../autograd/views.ts";
import { attend, cached } from "./attend.ts";
import type { HeadShape } from "./config.ts";
import { type Builder, type Linear, callLinear } from "./layers.ts";
import type { Forward } from "./net.ts";
import type { NormModule } from "./norms.ts";
import { type Rotate, applyRotary } from "./rope.ts";

/** What the model hands every layer. */
export interface Place {
  readonly cos: Tensor;
  readonly sin: Tensor;
  readonly mask: Tensor | null;
  /** The layer's window, whether or not this sequence reaches it; null attends to all. */
  readonly window: number | null;
}

/** A layer's attention module, weights made. Eager attention also returns its weights. */
export type SelfAttention = (f: Forward, x: Tensor, place: Place) => readonly Tensor[];

/** Binds q, k and v as [batch, heads, seq, size] in the attention's frame. */
type Split = (f: Forward, x: Tensor) => [Tensor, Tensor, Tensor];

interface Parts {
  readonly heads: HeadShape;
  readonly split: Split;
  readonly out: Linear;
  readonly rotate: Rotate;
  readonly softcap: boolean;
  readonly residualDropout: number;
}

function compose(p: Parts): SelfAttention {
  return (f, x, place) => {
    const { torch } = f;
    return torch.module("self_attn", [x], () => {
      let [q, k, v] = p.split(f, x);
      const [rq, rk] = p.rotate(torch, q, k, place.cos, place.sin) as [Tensor, Tensor];
      q = torch.set(q, rq);
      k = torch.set(k, rk);
      [k, v] = cached(f, k, v, place.window);
      const attended = attend(f, q, k, v, place.mask, p.heads, p.softcap);
      let out = torch.let(attended[0]!);
      const weights = attended.slice(1).map((t) => torch.let(t));
      out = torch.set(out, reshape(torch, out, [f.batch, f.seq, p.heads.queries * p.heads.size]));
      out = torch.set(out, callLinear(torch, p.out, out));
      return [dropout(torch, out, f.training ? p.residualDropout : 0), ...weights];
    });
  };
}

/** Norms of q and k: over a whole projection, or a head at a time, before or after heads move forward. */
export interface HeadNorm {
  readonly over: "projection" | "head" | "moved head";
  make(b: Builder, of: "q" | "k", heads: number): NormModule;
}

export interface AttentionOptions {
  readonly bias: boolean;
  readonly outBias: boolean;
  readonly rotate?: Rotate;
  readonly norm?: HeadNorm;
  /** Heads move forward once all three projections are made, which orders backward. */
  readonly projectsFirst?: boolean;
  readonly softcap?: boolean;
  readonly residualDropout?: number;
}

/** q, k, v and o projections under the names nearly every family uses. */
export function attention(b: Builder, hidden: number, heads: HeadShape, o: AttentionOptions): SelfAttention {
  return b.in("self_attn", () => {
    const { queries, keys, size } = heads;
    const q = b.linear("q_proj", hidden, queries * size, o.bias);
    const k = b.linear("k_proj", hidden, keys * size, o.bias);
    const v = b.linear("v_proj", hidden, keys * size, o.bias);
    const out = b.linear("o_proj", queries * size, hidden, o.outBias);
    const { norm } = o;
    const qNorm = norm?.make(b, "q", queries);
    const kNorm = norm?.make(b, "k", keys);
    const split: Split = (f, x) => {
      const { torch } = f;
      const project = (layer: Linear, normed?: NormModule): Tensor => {
        const t = callLinear(torch, layer, x);
        return normed && norm?.over === "projection" ? normed(torch, t) : t;
      };
      const move = (t: Tensor, count: number, normed?: NormModule): Tensor => {
        const heads = view(torch, t, [f.batch, f.seq, count, size]);
        return transpose(torch, normed && norm?.over === "head" ? normed(torch, heads) : heads, 1, 2);
      };
      let qs: Tensor;
      let ks: Tensor;
      let vs: Tensor;
      if (o.projectsFirst) {
        const all = [project(q, qNorm), project(k, kNorm), project(v)].map((t) => torch.let(t));
        qs = torch.set(all[0]!, move(all[0]!, queries, qNorm));
        ks = torch.set(all[1]!, move(all[1]!, keys, kNorm));
        vs = torch.set(all[2]!, move(all[2]!, keys));
      } else {
        qs = torch.let(move(project(q, qNorm), queries, qNorm));
        ks = torch.let(move(project(k, kNorm), keys, kNorm));
        vs = torch.let(move(project(v), keys));
      }
      if (qNorm && kNorm && norm?.over === "moved head") {
        qs = torch.set(qs, qNorm(torch, qs));
        ks = torch.set(ks, kNorm(torch, ks));
      }
      return [qs, ks, vs];
    };
    return compose({
      heads,
      split,
      out,
      rotate: o.rotate ?? applyRotary,
      softcap: o.softcap ?? false,
      residualDropout: o.residualDropout ?? 0,
    });
  });
}

/** Phi-3: one projection, sliced into q, k and v; it stays a local until the attention returns. */
export function fusedAttention(b: Builder, hidden: number, heads: HeadShape, rotate: Rotate): SelfAttention {
  return b.in("self_attn", () => {
    const { queries, keys, size } = heads;
    const out = b.linear("o_proj", queries * size, hidden, false);
    const qkv = b.linear("qkv_proj", hidden, (queries + 2 * keys) * size, false);
    const split: Split = (f, x) => {
      const { torch } = f;
      const all = torch.let(callLinear(torch, qkv, x));
      const part = (from: number, count: number): Tensor =>
        torch.let(slice(torch, all, -1, from * size, (from + count) * size));
      const move = (t: Tensor, count: number): Tensor =>
        torch.set(t, transpose(torch, view(torch, t, [f.batch, f.seq, count, size]), 1, 2));
      const q = part(0, queries);
      const k = part(queries, keys);
      const v = part(queries + keys, keys);
      return [move(q, queries), move(k, keys), move(v, keys)];
    };
    return compose({ heads, split, out, rotate, softcap: false, residualDropout: 0 });
  });
}
