import { chooseKernel } from "../autograd/attention.ts";
import { runBackward } from "../autograd/engine.ts";
import { input } from "../autograd/lookup.ts";
import { unary } from "../autograd/pointwise.ts";
import type { Storage, Tensor } from "../autograd/tensor.ts";
import { Torch } from "../autograd/torch.ts";
import type { Work } from "../autograd/work.ts";
import type { Bytes } from "../base/units.ts";
import { LOSSES, type LossName } from "../losses/losses.ts";
import { familyOf } from "../nets/families.ts";
import { Builder } from "../nets/layers.ts";
import { wrapLora } from "../nets/lora.ts";
import type { Checkpointing as LayerCheckpointing, Forward, Net } from "../nets/net.ts";
import { clipGradients } from "../optimizers/clip.ts";
import { hostOptimizer } from "../optimizers/host.ts";
import type { Optimizer } from "../optimizers/optimizer.ts";
import { optimizerOf } from "../optimizers/optimizers.ts";
import { Tape } from "../tape/tape.ts";
import { Action, Phase } from "../tape/vocabulary.ts";
import { castsOnGather, recipeOfRank, strategyOf, weightsAbsent } from "./parallel/distribute.ts";
import { settle, type Stage, stageOf } from "./parallel/pipeline.ts";
import { splitLinears } from "./parallel/tensor.ts";
import type { Placed, Strategy } from "./parallel/strategy.ts";
import type { Checkpointing, Evaluation, Recipe } from "./recipe.ts";
import { type Block, recordBlock, repeatBlock } from "./repeat.ts";
import { leavesByLayer, NotPeriodic, representatives, stitch } from "./stitch.ts";

/** Compute capability of the cards the recorded runs were made on: what is assumed when no card is named. */
const HOPPER = 9;

/**
 * In the second step optimizer state exists and the allocator has settled. Of 150 measured runs of four steps
 * and more (evidence/accuracy, evidence/speed), 4 reserved more after it, the most 0.45 %.
 */
const STEPS = 2;

/** A run on shapes: its memory, its arithmetic, and what waits in host memory. */
export interface Execution {
  readonly tape: Tape;
  readonly work: readonly Work[];
  /** Forward and backward of the first micro-batch, and of a later one when gradients accumulate. */
  readonly blocks: readonly Block[];
  readonly trainable: readonly Tensor[];
  readonly hostPeak: Bytes;
}

/** Executes the recipe's training steps on shapes; equal layers once for all, where they are. */
export function execute(recipe: Recipe, steps = STEPS, capability = HOPPER): Execution {
  const { kind, ranks } = recipe.parallel;
  if (ranks > 1 && kind !== "tensor") return run(recipe, steps, capability, false);
  try {
    return run(recipe, steps, capability, true);
  } catch (error) {
    if (!(error instanceof NotPeriodic)) throw error;
    return run(recipe, steps, capability, false);
  }
}

/** Executes every layer: what `execute` must equal. */
export function executeAll(recipe: Recipe, steps = STEPS, capability = HOPPER): Execution {
  return run(recipe, steps, capability, false);
}

function run(whole: Recipe, steps: number, capability: number, abridged: boolean): Execution {
  const recipe = recipeOfRank(whole);
  const tape = new Tape({ source: "plan", allocConf: recipe.allocConf }, 1 << 15);
  const torch = new Torch(tape, capability);
  const loaded = load(torch, recipe);
  const { net, parameters } = loaded;
  const stage = pipelineStage(recipe, net);
  if (stage) settle(torch, loaded.placed, stage);
  const strategy = strategyOf(torch, recipe, loaded.placed, loaded.trainable);
  const trainable = strategy?.trainable ?? loaded.trainable;
  const kinds = net
    .layerKinds(recipe)
    .map((kind, i) => `${kind} ${checkpointingOf(recipe.checkpointing, i)}`);
  const layers = abridged ? representatives(kinds, leavesByLayer(tape, parameters)) : null;
  const leaves = abridged ? leavesByLayer(tape, trainable) : new Map();
  if (layers) torch.standIn = { layer: layers[2]!, for: kinds.length - 4 };
  // The Trainer asks bitsandbytes to keep embeddings' states in 32 bits.
  const wide = new Set(recipe.loop === "plain" ? [] : loaded.embeddings);
  const optimizer = recipe.optimizerOnHost ? hostOptimizer() : optimizerOf(recipe.optimizer, wide);
  if (recipe.optimizerInBackward) torch.onGradient = stepInBackward(torch, optimizer, new Set(trainable));
  const groups = recipe.loop === "plain" ? [trainable] : decayGroups(trainable);
  const blocks: Block[] = [];
  let opening: Block | null = null;
  const batch: Batch = { ids: null, mask: null };

  // accelerate's free_memory, before the Trainer's first step: what loading left in the cache is given back.
  if (recipe.loop !== "plain") tape.append(Action.empty_cache, -1, 0, 0, Phase.load);

  for (let step = 1; step <= steps; step++) {
    torch.step = step;
    if (stage) blocks.push(workOnly(torch, () => pipelined(torch, net, recipe, batch, stage)));
    for (let micro = 0; micro < (stage ? 0 : recipe.accumulation); micro++) {
      torch.phase = Phase.forward;
      nextBatch(torch, recipe, batch);
      // The first micro-batch creates gradients, the others add to them.
      const known = blocks[Math.min(micro, 1)];
      const body = (): void => {
        const first = tape.length;
        microStep(torch, net, recipe, batch, layers, strategy);
        if (layers) stitch(torch, first, kinds.length, leaves);
      };
      // Stepped inside backward, the first step also creates the optimizer's state.
      if (recipe.optimizerInBackward && step === 1) {
        const made = workOnly(torch, body);
        opening ??= made;
      } else if (strategy) blocks.push(workOnly(torch, body));
      else if (known) repeatBlock(torch, known);
      else blocks.push(recordBlock(torch, trainable, body));
    }
    torch.noGrad(() => {
      torch.phase = Phase.optimizer;
      strategy?.beforeStep?.();
      if (strategy?.stepsItself) return;
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
  if (recipe.evaluation) evaluate(torch, net, recipe, recipe.evaluation, strategy);
  // safetensors copies one tensor after the other to the host: saving takes nothing more on the card.
  if (recipe.saves) tape.append(Action.snapshot, -1, 0, 0, Phase.save, 0, 0, steps);
  if (opening && blocks.length === 0) blocks.push(opening);
  return {
    tape,
    work: torch.work,
    blocks,
    trainable: loaded.trainable.filter((p) => p.requiresGrad),
    hostPeak: torch.host.peak,
  };
}

function checkpointingOf(c: Checkpointing, layer: number): LayerCheckpointing {
  if (c.kind === "none" || layer % c.every !== 0) return "none";
  if (c.kind === "selective") return "selective";
  if (c.offload) return "offloaded";
  return c.reentrant ? "reentrant" : "nonreentrant";
}

/** SFTTrainer computes its loss its own way unless told otherwise. */
function lossOf(recipe: Recipe): LossName {
  return recipe.loop === "sft" && recipe.loss === "default" ? "logprob" : recipe.loss;
}

/** A gradient is used and dropped as soon as it is complete. */
function stepInBackward(
  torch: Torch,
  optimizer: Optimizer,
  trainable: ReadonlySet<Tensor>,
): (leaf: Tensor) => void {
  return (leaf) => {
    // Embeddings made to require grad are leaves too, but nobody's parameter.
    if (!trainable.has(leaf)) return;
    const phase = torch.phase;
    torch.phase = Phase.optimizer;
    optimizer.step(torch, [leaf]);
    torch.phase = phase;
    torch.unref(leaf.grad!);
    leaf.grad = null;
  };
}

/** The Trainer steps weights that decay and those that do not (biases, norms) in two groups. */
function decayGroups(trainable: readonly Tensor[]): Tensor[][] {
  return [trainable.filter((p) => p.shape.length > 1), trainable.filter((p) => p.shape.length <= 1)];
}

interface Loaded {
  readonly net: Net;
  readonly trainable: Tensor[];
  readonly parameters: Tensor[];
  readonly embeddings: Tensor[];
  /** Parameters and adapters, each with its module. */
  readonly placed: Placed[];
}

function pipelineStage({ parallel, accumulation }: Recipe, net: Net): Stage | null {
  if (parallel.kind !== "pipeline" || parallel.ranks < 2) return null;
  const layers = net.layerKinds({ attention: "sdpa", seq: 1 }).length;
  return stageOf(parallel.rank ?? 0, parallel.ranks, layers, accumulation);
}

/** 1F1B: forwards until enough micro-batches are in flight, then a backward for each further forward. */
function pipelined(torch: Torch, net: Net, recipe: Recipe, batch: Batch, stage: Stage): void {
  torch.frame(() => {
    const waiting: Tensor[] = [];
    let started = 0;
    for (let done = 0; done < recipe.accumulation; done++) {
      while (started < recipe.accumulation && waiting.length < stage.inFlight) {
        started++;
        torch.phase = Phase.forward;
        nextBatch(torch, recipe, batch);
        waiting.push(
          torch.let(forwardLoss(torch, net, recipe, batch, stage.layers, true, null, stage.last).loss),
        );
      }
      const output = waiting.shift()!;
      backward(torch, output, null);
      torch.drop(output);
    }
  });
}

/** A micro-batch whose rows are not copied: in a parallel run what a step leaves behind is not gradients alone. */
function workOnly(torch: Torch, body: () => void): Block {
  const from = torch.work.length;
  const row = torch.tape.length;
  body();
  const ranges = [[row, torch.tape.length]] as const;
  return { ranges, work: [from, torch.work.length], firstStorage: 0, storages: 0, gradients: [] };
}

/** Builds the model and, for an adapter method, wraps it. */
function load(torch: Torch, recipe: Recipe): Loaded {
  torch.phase = Phase.load;
  const absent: Torch["absent"] = weightsAbsent(recipe) ? new Map() : null;
  torch.absent = absent;
  const { method } = recipe;
  const builder = new Builder(torch, recipe.dtype, method.kind === "lora" ? method.quantization : null);
  const net = familyOf(recipe.model.config).build(recipe.model.config, builder);
  if (recipe.parallel.kind === "tensor" && recipe.parallel.ranks > 1)
    splitLinears(torch, builder, net.head, recipe.parallel.ranks);
  const trainable = trainableOf(torch, builder, recipe);
  torch.absent = null;
  const parameters = builder.parameters.map((p) => p.tensor);
  const { module } = torch.tape.columns;
  const placed = [...new Set([...parameters, ...trainable])].map((tensor) => ({
    tensor,
    module: absent?.get(tensor.storage) ?? module[tensor.storage.row]!,
  }));
  return { net, trainable, parameters, embeddings: builder.embeddings.map((e) => e.weight), placed };
}

function trainableOf(torch: Torch, builder: Builder, { method, checkpointing }: Recipe): Tensor[] {
  const inputsRequireGrad = checkpointing.kind !== "none";
  switch (method.kind) {
    case "lora":
      return wrapLora(torch, builder, method.adapter, inputsRequireGrad);
    case "qat":
      for (const layer of builder.linears) layer.fakeQuantized = layer.name !== "lm_head";
      if (method.adapter) return wrapLora(torch, builder, method.adapter, inputsRequireGrad);
      return builder.parameters.map((p) => p.tensor);
    case "full":
      return freeze(builder, method.frozenLayers);
  }
}

/** Freezes the first decoder layers and what comes before them; returns what still trains. */
function freeze(builder: Builder, layers: number): Tensor[] {
  if (layers > 0) {
    for (const { name, tensor } of builder.parameters) {
      const layer = /\.(?:layers|h)\.(\d+)\./.exec(name);
      if (layer ? Number(layer[1]) < layers : /embed|wte|wpe/.test(name)) tensor.requiresGrad = false;
    }
  }
  return builder.parameters.map((p) => p.tensor).filter((t) => t.requiresGrad);
}

/** The loop's own variables: each keeps its last value until it is assigned again. */
interface Batch {
  ids: Tensor | null;
  mask: Tensor | null;
}

/** The new ids are made while the old batch is still held; its mask, when there is one, once that is gone. */
function nextBatch(torch: Torch, recipe: Recipe, batch: Batch): void {
  const make = (): Tensor => {
    const value = input(torch, [recipe.batch, recipe.seq], "int64");
    value.floating = false;
    return value;
  };
  const ids = make();
  for (const old of [batch.ids, batch.mask]) if (old) torch.unref(old);
  batch.ids = ids;
  batch.mask = recipe.mask ? make() : null;
}

function microStep(
  torch: Torch,
  net: Net,
  recipe: Recipe,
  batch: Batch,
  layers: readonly number[] | null,
  strategy: Strategy | null,
): void {
  torch.frame(() => {
    const loss = torch.let(forwardLoss(torch, net, recipe, batch, layers, true, strategy).loss);
    backward(torch, loss, strategy);
  });
}

/** From the loss, or from what a stage of a pipeline has sent on. */
function backward(torch: Torch, output: Tensor, strategy: Strategy | null): void {
  torch.phase = Phase.backward;
  torch.frame(() => {
    const grad = torch.let(torch.empty(output.shape, output.dtype));
    torch.thread = "autograd";
    torch.noGrad(() => runBackward(torch, output.node!, output.output, grad));
    strategy?.afterBackward?.();
    torch.thread = "main";
    torch.atLayer(-1);
  });
}

function forwardLoss(
  torch: Torch,
  net: Net,
  recipe: Recipe,
  batch: Batch,
  layers: readonly number[] | null,
  training: boolean,
  strategy: Strategy | null,
  head = true,
): { loss: Tensor; logits: number } {
  const outputs: Tensor[] = [];
  strategy?.beforeForward?.();
  const { checkpointing } = recipe;
  const forward: Forward = {
    torch,
    batch: batch.ids!.shape[0]!,
    seq: recipe.seq,
    ids: batch.ids!,
    mask: batch.mask,
    layers,
    attention: recipe.attention,
    kernel: (q, k, masked) => chooseKernel(torch.capability, q, k, masked),
    checkpointing: (layer) => checkpointingOf(checkpointing, layer),
    // transformers' Trainer turns the key/value cache off; a plain loop leaves the model's default on.
    useCache: checkpointing.kind === "none" && recipe.loop === "plain",
    training,
    labelled: recipe.labelled,
    logitsToKeep: recipe.logitsToKeep,
    outputs,
    ...(strategy?.around ? { around: strategy.around } : {}),
  };
  const run = (): Tensor =>
    torch.frame(() => {
      const hidden = torch.let(net.hidden(forward));
      return head ? torch.let(LOSSES[lossOf(recipe)](forward, net, hidden)) : hidden;
    });
  const autocast = castsOnGather(recipe) ? null : (recipe.autocast ?? adapterAutocast(recipe));
  const loss = autocast ? torch.autocasting(autocast, run) : run();
  strategy?.afterForward?.(loss);
  const logits = outputs.length > 0 ? outputs[outputs.length - 1]!.storage.bytes : 0;
  for (const t of outputs) torch.unref(t);
  return {
    loss: head && training && recipe.accumulation > 1 ? unary(torch, "DivBackward", loss, "nothing") : loss,
    logits,
  };
}

function adapterAutocast({ method, dtype }: Recipe): Recipe["autocast"] {
  const narrow = method.kind === "lora" && method.adapter.autocast === true;
  return narrow && (dtype === "bf16" || dtype === "fp16") ? dtype : null;
}

/**
 * Evaluation after the last step: forwards without a graph. Kept logits are concatenated batch by batch, as the
 * Trainer does, so that old and new stand side by side.
 */
function evaluate(
  torch: Torch,
  net: Net,
  recipe: Recipe,
  { batch, keptLogits }: Evaluation,
  strategy: Strategy | null,
): void {
  torch.phase = Phase.evaluation;
  torch.noGrad(() => {
    let kept: Storage | null = null;
    for (let i = 0; i < Math.max(1, keptLogits); i++) {
      torch.frame(() => {
        const inputs: Batch = { ids: null, mask: null };
        nextBatch(torch, { ...recipe, batch }, inputs);
        const { loss, logits } = forwardLoss(torch, net, recipe, inputs, null, false, strategy);
        torch.let(loss);
        for (const t of [inputs.ids, inputs.mask]) if (t) torch.unref(t);
        if (keptLogits === 0) return;
        torch.phase = Phase.evaluation;
        const all = torch.storage((kept?.bytes ?? 0) + logits);
        torch.retain(all);
        if (kept) torch.release(kept);
        kept = all;
      });
    }
    if (kept) torch.release(kept);
  });
}
