import type { Dtype } from "../autograd/dtype.ts";
import { type Storage, type Tensor, numel } from "../autograd/tensor.ts";
import type { Torch } from "../autograd/torch.ts";
import { to } from "../autograd/views.ts";
import { Kind } from "../tape/vocabulary.ts";

/** Weights that share one scale (bitsandbytes' default block for 4 bits). */
const BLOCK = 64;
/** Scales that share one scale of their own, with double quantisation. */
const NESTED_BLOCK = 256;

/** A 4-bit weight: half a byte a number, a scale a block. */
export interface QuantState {
  readonly count: number;
  readonly double: boolean;
  readonly computeDtype: Dtype;
}

export interface QuantOptions {
  readonly doubleQuant: boolean;
  readonly computeDtype: Dtype;
}

function held(torch: Torch, bytes: number, kind = Kind.weight): Storage {
  const storage = torch.storage(bytes, kind);
  torch.retain(storage);
  return storage;
}

/**
 * Loads a weight in the checkpoint's type, quantises it and drops the original (bitsandbytes.nn.Params4bit).
 * What stays: packed numbers, a lookup table, and the scales, in fp32 or (doubly quantised) in a byte each.
 */
export function quantizedWeight(
  torch: Torch,
  shape: readonly [number, number],
  dtype: Dtype,
  options: QuantOptions,
): { readonly weight: Tensor; readonly quant: QuantState } {
  const count = shape[0] * shape[1];
  const scales = Math.ceil(count / BLOCK);
  const original = torch.empty(shape, dtype, Kind.temporary);
  const absmax = held(torch, scales * 4);
  const weight = torch.empty([Math.ceil(count / 2), 1], "uint8", Kind.weight);
  weight.floating = false;
  held(torch, 64);
  if (options.doubleQuant) {
    held(torch, 4);
    const shifted = held(torch, scales * 4, Kind.temporary);
    held(torch, Math.ceil(scales / NESTED_BLOCK) * 4);
    held(torch, scales);
    held(torch, 1024);
    torch.release(shifted);
    torch.release(absmax);
  }
  torch.consume(original);
  return { weight, quant: { count, double: options.doubleQuant, computeDtype: options.computeDtype } };
}

/** The weight in full precision, for as long as a product needs it; its scales in fp32 before it. */
function dequantized<R>(torch: Torch, quant: QuantState, copies: number, use: () => R): R {
  const scales = quant.double ? Math.ceil(quant.count / BLOCK) * 4 : 0;
  const absmax = Array.from({ length: scales > 0 ? copies : 0 }, () => held(torch, scales, Kind.temporary));
  const full = torch.empty([quant.count], quant.computeDtype);
  // Forward keeps the scales until its product is done, backward only until the weight exists (ops.py).
  const early = copies === 1;
  if (early) for (const s of absmax) torch.release(s);
  const result = use();
  if (!early) for (const s of absmax) torch.release(s);
  torch.consume(full);
  return result;
}

/** `Linear4bit.forward`: input in the compute type, weight restored for the product, result in the input's type. */
export function linear4bit(
  torch: Torch,
  x0: Tensor,
  weight: Tensor,
  quant: QuantState,
  outputs: number,
  bias: Tensor | null,
): Tensor {
  return torch.frame(() => {
    const x = torch.let(to(torch, x0, quant.computeDtype));
    const out = dequantized(torch, quant, 2, () => {
      const product = torch.empty([...x.shape.slice(0, -1), outputs], quant.computeDtype);
      torch.multiply(
        numel(x.shape) / x.shape[x.shape.length - 1]!,
        outputs,
        x.shape[x.shape.length - 1]!,
        quant.computeDtype,
      );
      return product;
    });
    if (torch.tracks([x, bias])) {
      torch.record("MatMul4BitBackward", [out], [x, bias], torch.save([weight]), ([g], needs) => {
        const gb = needs[1] ? torch.empty([outputs], g!.dtype) : null;
        const gx = needs[0]
          ? dequantized(torch, quant, 1, () => {
              const product = torch.empty(x.shape, g!.dtype);
              torch.multiply(
                numel(x.shape) / x.shape[x.shape.length - 1]!,
                x.shape[x.shape.length - 1]!,
                outputs,
                g!.dtype,
              );
              return product;
            })
          : null;
        return [gx, gb];
      });
    }
    return to(torch, out, x0.dtype);
  });
}
