import { Torch } from "../../src/autograd/torch.ts";
import type { Dtype } from "../../src/autograd/dtype.ts";
import type { Tensor } from "../../src/autograd/tensor.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

/** A PyTorch on an empty tape. */
export function newTorch(): Torch {
  return new Torch(new Tape({ source: "plan" }));
}

/** A tensor that some variable outside the test holds. */
export function held(torch: Torch, shape: readonly number[], dtype: Dtype = "fp32", grad = false): Tensor {
  const t = torch.empty(shape, dtype);
  t.floating = false;
  t.requiresGrad = grad;
  return t;
}

/** What `body` allocates and frees: `A<n>:<bytes>` and `F<n>`, numbered by allocation; `F?` for what was there before. */
export function events(torch: Torch, body: () => void): string[] {
  const from = torch.tape.length;
  body();
  return eventsSince(torch, from);
}

export function eventsSince(torch: Torch, from: number, numbers = new Map<number, number>()): string[] {
  const { action, storage, bytes } = torch.tape.columns;
  const out: string[] = [];
  for (let row = from; row < torch.tape.length; row++) {
    const id = storage[row]!;
    if (action[row] === Action.alloc) {
      numbers.set(id, numbers.size);
      out.push(`A${numbers.get(id)}:${bytes[row]}`);
    } else out.push(`F${numbers.get(id) ?? "?"}`);
  }
  return out;
}
