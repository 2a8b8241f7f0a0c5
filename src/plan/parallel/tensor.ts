import { linear } from "../../autograd/matmul.ts";
import type { Tensor } from "../../autograd/tensor.ts";
import type { Torch } from "../../autograd/torch.ts";
import { clone } from "../../autograd/views.ts";
import { UserError } from "../../base/errors.ts";
import { Kind } from "../../tape/vocabulary.ts";
import type { Config } from "../../nets/config.ts";
import { type Builder, type Linear, plainLinear } from "../../nets/layers.ts";

/** Families whose heads and MLP are wholly given by the keys divided here. */
const DIVIDED = new Set(
  "llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 starcoder2 stablelm granite mixtral".split(" "),
);

/** Why a model cannot be divided over so many cards; null where it can. */
export function undivided(config: Config, ranks: number): UserError | null {
  if (!DIVIDED.has(String(config["model_type"])))
    return new UserError(
      `tensor parallelism of model_type "${String(config["model_type"])}" is not planned`,
      `--fsdp, or one of: ${[...DIVIDED].join(", ")}`,
    );
  for (const [key, value] of Object.entries(dividedSizes(config))) {
    if (!(value % ranks === 0))
      return new UserError(
        `config: "${key}" ${value} is not a multiple of the ${ranks} cards that tensor parallelism splits it over`,
        "Choose a number of cards that divides it, or --fsdp.",
      );
  }
  return null;
}

function dividedSizes(config: Config): Record<string, number> {
  const heads = Number(config["num_attention_heads"]);
  return {
    num_attention_heads: heads,
    num_key_value_heads: Number(config["num_key_value_heads"] ?? heads),
    intermediate_size: Number(config["intermediate_size"]),
  };
}

/** The part of a model's config that one rank computes: its heads, and its columns of the MLP. */
export function configOfRank(config: Config, ranks: number): Config {
  const refusal = undivided(config, ranks);
  if (refusal) throw refusal;
  const parts = Object.entries(dividedSizes(config)).map(([key, value]) => [key, value / ranks]);
  return {
    ...config,
    head_dim: config["head_dim"] ?? Number(config["hidden_size"]) / Number(config["num_attention_heads"]),
    ...Object.fromEntries(parts),
  };
}

/**
 * torch.distributed.tensor.parallel: projections into heads and into the MLP by columns, those out of them by rows
 * (their results are summed over the ranks into a new tensor), an untied head by columns with its logits gathered.
 * Embedding and norms are whole on every rank.
 */
export function splitLinears(torch: Torch, builder: Builder, head: Linear, ranks: number): void {
  for (const layer of builder.linears) {
    if (/^(?:o_proj|down_proj|out_proj|dense)$/.test(layer.name))
      layer.wrapper = { forward: (t, l, x) => clone(t, plainLinear(t, l, x)) };
  }
  const { outputs, inputs, weight } = head;
  const at = builder.parameters.findIndex((p) => p.tensor === weight && p.name.startsWith("lm_head"));
  if (at < 0) return;
  const module = torch.tape.modules.id("lm_head");
  const part = torch.within(module, () =>
    torch.empty([Math.ceil(outputs / ranks), inputs], weight.dtype, Kind.weight),
  );
  part.floating = false;
  part.requiresGrad = true;
  builder.parameters[at] = { name: "lm_head.weight", tensor: part };
  head.weight = part;
  torch.unref(weight);
  head.wrapper = { forward: (t, l, x) => gathered(t, linear(t, x, l.weight, null), outputs) };
}

/** All-gather along the last dimension; backward keeps this rank's columns. */
function gathered(torch: Torch, local: Tensor, columns: number): Tensor {
  const shape = [...local.shape.slice(0, -1), columns];
  // Gathered along the first dimension, then put side by side.
  const stacked = torch.empty(shape, local.dtype);
  const out = torch.empty(shape, local.dtype);
  torch.consume(stacked);
  if (torch.tracks([local])) {
    const part = [...local.shape];
    torch.record("AllGatherBackward", [out], [local], [], () => [torch.empty(part, local.dtype)]);
  }
  torch.consume(local);
  return out;
}
