import { runBackward } from "./engine.ts";
import type { Holder } from "./graph.ts";
import type { Storage, Tensor } from "./tensor.ts";
import type { KeptResults, Torch } from "./torch.ts";

/** Thrown to end a recomputation once every tensor backward needs has been remade (early stop). */
class RecomputationDone extends Error {}

/** What a checkpoint does beside recomputing. */
export interface CheckpointOptions {
  /** The argument waits in host memory and comes back for the recomputation. */
  readonly offload: boolean;
  /** Results of attention kernels are kept instead of recomputed (selective activation checkpointing). */
  readonly keepAttention: boolean;
}

/** A layer's results: hidden states, and what else it returns. */
function all(results: Tensor | readonly Tensor[]): readonly Tensor[] {
  return Array.isArray(results) ? (results as readonly Tensor[]) : [results as Tensor];
}

const PLAIN: CheckpointOptions = { offload: false, keepAttention: false };

/**
 * `checkpoint(fn, x, use_reentrant=False)`: the forward keeps only its argument; the first saved tensor that
 * backward asks for recomputes them all, and each is dropped after its use. `captured` are the tensors bound
 * into `fn` by keyword; they live as long as the region can be recomputed.
 */
export function checkpointNonReentrant<R extends Tensor | readonly Tensor[]>(
  torch: Torch,
  x: Tensor,
  captured: readonly Tensor[],
  body: (x: Tensor) => R,
  options = PLAIN,
): R {
  // The call's own reference, until it returns; without offload it stays for the recomputation.
  torch.ref(x);
  for (const t of captured) torch.ref(t);
  torch.consume(x);
  if (options.offload) torch.host.add(x.storage.bytes * torch.times);
  else torch.keepAsActivation(x.storage);
  let argument: Tensor | null = options.offload ? null : x;
  const kept: KeptResults | null = options.keepAttention ? { storages: [], replaying: false } : null;
  let alive = 0;
  let packed = 0;
  let recomputed: (Storage | null)[] | null = null;
  const autocast = torch.autocast;
  const module = torch.moduleId;

  const drop = (): void => {
    // The argument's saver dies with the last holder of the region.
    if (--alive > 0) return;
    for (const storage of recomputed ?? []) if (storage) torch.release(storage);
    recomputed = [];
    forget();
  };
  const forget = (): void => {
    if (argument) torch.unref(argument);
    for (const storage of kept?.storages.splice(0) ?? []) torch.release(storage);
    for (const t of captured) torch.unref(t);
  };

  const recompute = (): (Storage | null)[] => {
    const made: (Storage | null)[] = [];
    const outer = { hooks: torch.hooks, autocast: torch.autocast, grad: torch.gradEnabled };
    torch.hooks = {
      pack(storage: Storage): Holder {
        torch.retain(storage);
        made.push(storage);
        if (made.length === packed) throw new RecomputationDone();
        return { unpack: () => storage, release: () => {} };
      },
    };
    torch.gradEnabled = true;
    if (!argument) {
      argument = torch.adoptFresh(x);
      torch.host.add(-x.storage.bytes * torch.times);
    }
    const input = argument;
    const run = (): void => {
      torch.within(module, () =>
        torch.frame(() => {
          for (const t of all(body(input))) torch.let(t);
        }),
      );
    };
    const outerKept = torch.kept;
    if (kept) kept.replaying = true;
    torch.kept = kept;
    try {
      torch.unwinding(() => (autocast ? torch.autocasting(autocast.dtype, run) : run()));
    } catch (error) {
      if (!(error instanceof RecomputationDone)) throw error;
    } finally {
      torch.kept = outerKept;
      torch.hooks = outer.hooks;
      torch.autocast = outer.autocast;
      torch.gradEnabled = outer.grad;
    }
    return made;
  };

  const outer = torch.hooks;
  torch.hooks = {
    pack(): Holder {
      const index = packed++;
      alive++;
      return {
        unpack(): Storage {
          recomputed ??= recompute();
          const storage = recomputed[index]!;
          recomputed[index] = null;
          return storage;
        },
        release: drop,
      };
    },
  };
  const outerKept = torch.kept;
  torch.kept = kept;
  try {
    return body(x);
  } finally {
    torch.hooks = outer;
    torch.kept = outerKept;
    if (packed === 0) forget();
    if (options.offload) torch.unref(x);
  }
}

/**
 * `checkpoint(fn, x, use_reentrant=True)`: an autograd function that runs `fn` without a graph, and in backward
 * runs it again with one and a whole backward inside. It saves its tensor arguments (`positional`), and holds
 * what is bound into `fn` (`captured`) until the graph goes.
 */
export function checkpointReentrant<R extends Tensor | readonly Tensor[]>(
  torch: Torch,
  x: Tensor,
  captured: readonly Tensor[],
  body: (x: Tensor) => R,
  positional: readonly Tensor[] = [],
): R {
  const tracked = torch.tracks([x]);
  torch.ref(x);
  torch.consume(x);
  const autocast = torch.autocast;
  const module = torch.moduleId;
  const result = torch.noGrad(() => body(x));
  const outs = all(result);
  if (tracked) {
    torch.record("CheckpointFunctionBackward", outs, [x], torch.save([x, ...positional]), (grads) => {
      let gradient: Tensor | null = null;
      torch.frame(() => {
        // A Python autograd function is given zeros where no gradient came (materialize_grads).
        const given = outs.map((t, i) => grads[i] ?? torch.let(torch.empty(t.shape, t.dtype)));
        const detached = torch.let(torch.alias(x, x.shape, x.strides));
        detached.requiresGrad = true;
        const before = { grad: torch.gradEnabled, autocast: torch.autocast };
        torch.gradEnabled = true;
        const forward = (): readonly Tensor[] =>
          torch.within(module, () => all(body(detached)).map((t) => torch.let(t)));
        const outputs = autocast ? torch.autocasting(autocast.dtype, forward) : forward();
        torch.gradEnabled = before.grad;
        torch.autocast = before.autocast;
        const roots = outputs.flatMap((t, i) =>
          t.node ? [{ node: t.node, output: 0, grad: given[i]! }] : [],
        );
        const [root, ...inner] = roots;
        if (root) runBackward(torch, root.node, root.output, root.grad, inner);
        gradient = detached.grad;
        detached.grad = null;
      });
      return [gradient];
    });
    for (const t of captured) {
      torch.ref(t);
      (outs[0]!.node!.held ??= []).push(t);
    }
  }
  torch.unref(x);
  return result;
}
