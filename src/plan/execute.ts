import { chooseKernel } from "../autograd/attention.ts";
import { runBackward } from "../autograd/engine.ts";
import { input } from "../autograd/lookup.ts";
import { unary } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { Torch } from "../autograd/torch.ts";
import { causalLmLoss } from "../losses/causal-lm.ts";
import { familyOf } from "../nets/families.ts";
import { Builder, callLinear } from "../nets/layers.ts";
import { wrapLora } from "../nets/lora.ts";
import type { Forward, Net } from "../nets/net.ts";
import { clipGradients } from "../optimizers/clip.ts";
import { optimizerOf } from "../optimizers/optimizers.ts";
import { Tape } from "../tape/tape.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Recipe } from "./recipe.ts";
import { type Block, recordBlock, repeatBlock } from "./repeat.ts";

/** Compute capability of the cards the recorded runs were made on. */
const HOPPER = 9;

/** By the third step optimizer state exists and the allocator has settled: later steps repeat it. */
const STEPS = 3;

/** Executes the recipe's training steps on shapes. */
export function execute(recipe: Recipe, steps = STEPS): Tape {
  const tape = new Tape({ source: "plan", allocConf: recipe.allocConf }, 1 << 15);
  const torch = new Torch(tape);
  const { net, trainable } = load(torch, recipe);
  const optimizer = optimizerOf(recipe.optimizer);
  const groups = recipe.loop === "plain" ? [trainable] : decayGroups(trainable);
  const blocks: Block[] = [];
  const batch: Batch = { ids: null, mask: null };

  for (let step = 1; step <= steps; step++) {
    torch.step = step;
    for (let micro = 0; micro < recipe.accumulation; micro++) {
      torch.phase = Phase.forward;
      nextBatch(torch, recipe, batch);
      // The first micro-batch creates gradients, the others add to them.
      const known = blocks[Math.min(micro, 1)];
      if (known) repeatBlock(torch, known);
      else blocks.push(recordBlock(torch, trainable, () => microStep(torch, net, recipe, batch)));
    }
    torch.noGrad(() => {
      if (recipe.clip) {
        torch.phase = Phase.clip;
        clipGradients(torch, trainable);
      }
      torch.phase = Phase.optimizer;
      for (const group of groups) {
        optimizer.step(
          torch,
          group.filter((p) => p.grad !== null),
        );
      }
    });
    for (const p of trainable) {
      if (!p.grad) continue;
      torch.unref(p.grad);
      p.grad = null;
    }
  }
  return tape;
}

/** The Trainer steps weights that decay and those that do not (biases, norms) in two groups. */
function decayGroups(trainable: readonly Tensor[]): Tensor[][] {
  return [trainable.filter((p) => p.shape.length > 1), trainable.filter((p) => p.shape.length <= 1)];
}

/** Builds the model and, for an adapter method, wraps it. */
function load(torch: Torch, recipe: Recipe): { net: Net; trainable: Tensor[] } {
  torch.phase = Phase.load;
  const { method } = recipe;
  const builder = new Builder(torch, recipe.dtype, method.kind === "lora" ? method.quantization : null);
  const net = familyOf(recipe.model.config).build(recipe.model.config, builder);
  if (method.kind === "lora") {
    return { net, trainable: wrapLora(torch, builder, method.adapter, recipe.checkpointing.kind !== "none") };
  }
  return { net, trainable: builder.parameters.map((p) => p.tensor) };
}

/** The loop's own variables: each keeps its last value until it is assigned again. */
interface Batch {
  ids: Tensor | null;
  mask: Tensor | null;
}

function nextBatch(torch: Torch, recipe: Recipe, batch: Batch): void {
  for (const name of recipe.mask ? (["ids", "mask"] as const) : (["ids"] as const)) {
    const value = input(torch, [recipe.batch, recipe.seq], "int64");
    value.floating = false;
    const old = batch[name];
    batch[name] = value;
    if (old) torch.unref(old);
  }
}

function microStep(torch: Torch, net: Net, recipe: Recipe, batch: Batch): void {
  torch.frame(() => {
    const loss = torch.let(forwardLoss(torch, net, recipe, batch.ids!, batch.mask));
    torch.phase = Phase.backward;
    torch.frame(() => {
      const one = torch.let(torch.empty([], loss.dtype));
      torch.thread = "autograd";
      torch.noGrad(() => runBackward(torch, loss.node!, 0, one));
      torch.thread = "main";
    });
  });
}

function forwardLoss(torch: Torch, net: Net, recipe: Recipe, ids: Tensor, mask: Tensor | null): Tensor {
  const outputs: Tensor[] = [];
  const { checkpointing } = recipe;
  const forward: Forward = {
    torch,
    batch: recipe.batch,
    seq: recipe.seq,
    ids,
    mask,
    attention: recipe.attention,
    kernel: (q, k, masked) => chooseKernel(HOPPER, q, k, masked),
    checkpointing: (layer) =>
      checkpointing.kind === "none" || layer % checkpointing.every !== 0
        ? "none"
        : checkpointing.reentrant
          ? "reentrant"
          : "nonreentrant",
    // transformers' Trainer turns the key/value cache off; a plain loop leaves the model's default on.
    useCache: checkpointing.kind === "none" && recipe.loop === "plain",
    training: true,
    outputs,
  };
  const run = (): Tensor =>
    torch.frame(() => {
      const hidden = torch.let(net.hidden(forward));
      const logits = callLinear(torch, net.head, hidden);
      const shaped = torch.let(net.logits ? net.logits(torch, logits) : logits);
      torch.phase = Phase.loss;
      const loss = torch.let(
        torch.module("loss", [], () => causalLmLoss(torch, shaped, ids, net.vocabulary)),
      );
      outputs.push(shaped);
      torch.ref(shaped);
      return loss;
    });
  const loss = recipe.autocast ? torch.autocasting(recipe.autocast, run) : run();
  for (const t of outputs) torch.unref(t);
  if (recipe.accumulation > 1) return unary(torch, "DivBackward", loss, "nothing");
  return loss;
}
