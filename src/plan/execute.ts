import type { SdpaKernel } from "../autograd/attention.ts";
import { runBackward } from "../autograd/engine.ts";
import { input } from "../autograd/lookup.ts";
import { unary } from "../autograd/pointwise.ts";
import type { Tensor } from "../autograd/tensor.ts";
import { Torch } from "../autograd/torch.ts";
import { causalLmLoss } from "../losses/causal-lm.ts";
import { callLinear, Builder } from "../nets/layers.ts";
import { familyOf } from "../nets/families.ts";
import { wrapLora } from "../nets/lora.ts";
import type { Forward, Net } from "../nets/net.ts";
import { clipGradients } from "../optimizers/clip.ts";
import { optimizerOf } from "../optimizers/optimizers.ts";
import { Tape } from "../tape/tape.ts";
import { Phase } from "../tape/vocabulary.ts";
import type { Recipe } from "./recipe.ts";

/** Executes the recipe's training steps on shapes. */
export function execute(recipe: Recipe): Tape {
  const tape = new Tape({ source: "plan" }, 1 << 16);
  const torch = new Torch(tape);
  const builder = new Builder(torch, recipe.dtype);
  const net = familyOf(recipe.config).build(recipe.config, builder);
  let trainable = builder.parameters.map((p) => p.tensor);
  if (recipe.lora) trainable = wrapLora(torch, builder, recipe.lora, recipe.checkpointing !== "none");
  const optimizer = optimizerOf(recipe.optimizer);

  const variables: Variables = { ids: null, mask: null, loss: null };

  for (let step = 1; step <= recipe.steps; step++) {
    torch.step = step;
    for (let micro = 0; micro < recipe.accumulation; micro++) microStep(torch, net, recipe, variables);
    torch.noGrad(() => {
      if (recipe.clip) {
        torch.phase = Phase.clip;
        clipGradients(torch, trainable);
      }
      torch.phase = Phase.optimizer;
      optimizer.step(
        torch,
        trainable.filter((p) => p.grad !== null),
      );
    });
    for (const p of trainable) {
      if (!p.grad) continue;
      torch.unref(p.grad);
      p.grad = null;
    }
  }
  return tape;
}

/** The loop's own variables: each keeps its last value until it is assigned again. */
interface Variables {
  ids: Tensor | null;
  mask: Tensor | null;
  loss: Tensor | null;
}

function assign(torch: Torch, old: Tensor | null, value: Tensor): Tensor {
  value.floating = false;
  if (old) torch.unref(old);
  return value;
}

function microStep(torch: Torch, net: Net, recipe: Recipe, variables: Variables): void {
  const { batch, seq } = recipe;
  torch.phase = Phase.forward;
  const ids = (variables.ids = assign(torch, variables.ids, input(torch, [batch, seq], "int64")));
  const mask = recipe.mask
    ? (variables.mask = assign(torch, variables.mask, input(torch, [batch, seq], "int64")))
    : null;
  const loss = (variables.loss = assign(torch, variables.loss, forwardLoss(torch, net, recipe, ids, mask)));
  torch.phase = Phase.backward;
  torch.frame(() => {
    const one = torch.let(torch.empty([], loss.dtype));
    torch.thread = "autograd";
    const grad = torch.gradEnabled;
    torch.gradEnabled = false;
    runBackward(torch, loss.node!, 0, one);
    torch.gradEnabled = grad;
    torch.thread = "main";
  });
  variables.loss = null;
  torch.unref(loss);
}

function forwardLoss(torch: Torch, net: Net, recipe: Recipe, ids: Tensor, mask: Tensor | null): Tensor {
  const outputs: Tensor[] = [];
  const forward: Forward = {
    torch,
    batch: recipe.batch,
    seq: recipe.seq,
    ids,
    mask,
    attention: recipe.attention,
    kernel: chooseKernel,
    checkpointing: () => recipe.checkpointing,
    useCache: recipe.checkpointing === "none",
    training: true,
    outputs,
  };
  const run = (): Tensor =>
    torch.frame(() => {
      const hidden = torch.let(net.hidden(forward));
      const logits = torch.let(callLinear(torch, net.head, hidden));
      const shaped = net.logits ? torch.set(logits, net.logits(torch, logits)) : logits;
      torch.phase = Phase.loss;
      const loss = torch.let(causalLmLoss(torch, shaped, ids, net.vocabulary));
      outputs.push(shaped);
      torch.ref(shaped);
      return loss;
    });
  const loss = recipe.autocast ? torch.autocasting(recipe.autocast, run) : run();
  for (const t of outputs) torch.unref(t);
  if (recipe.accumulation > 1) return unary(torch, "DivBackward", loss, "nothing");
  return loss;
}

function chooseKernel(q: Tensor): SdpaKernel {
  return q.dtype === "fp32" ? "math" : "cudnn";
}
