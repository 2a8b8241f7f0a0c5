import type { Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import type { Around } from "../../nets/net.ts";

/** What distributing a model over ranks changes in one rank's step. */
export interface Strategy {
  /** What this rank's optimizer steps. */
  readonly trainable: readonly Tensor[];
  /** Clipping and stepping are not the plain loop's: in host memory, or the strategy's own. */
  readonly stepsItself: boolean;
  /** Before the model is called. */
  beforeForward?(): void;
  readonly around?: Around;
  /** The model has returned `loss`. */
  afterForward?(loss: Tensor): void;
  /** Backward has returned. */
  afterBackward?(): void;
  /** Before clipping; where it steps on the host or in its own way, in place of clipping and stepping. */
  beforeStep?(): void;
}

/** A parameter, and the module it belongs to. */
export interface Placed {
  readonly tensor: Tensor;
  readonly module: number;
}

/** Decoder layer of a module, by its name; -1 outside of the layers. */
export function layerOf(torch: Torch, module: number): number {
  const found = /(?:^|\.)(?:layers|h)\.(\d+)(?:\.|$)/.exec(torch.tape.modules.text(module));
  return found ? Number(found[1]) : -1;
}
