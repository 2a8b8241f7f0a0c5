import type { Config } from "../../nets/config.ts";
import { decoder, type Entry, TIED } from "./entry.ts";

const gpt2 = (
  width: number,
  layers: number,
  heads: number,
  parameters: number,
  ...names: string[]
): Entry => ({
  names,
  parameters,
  config: {
    model_type: "gpt2",
    n_embd: width,
    n_layer: layers,
    n_head: heads,
    n_positions: 1024,
    vocab_size: 50257,
  },
});

const opt = (
  width: number,
  layers: number,
  heads: number,
  parameters: number,
  name: string,
  more: Config = {},
): Entry => ({
  names: [`facebook/${name}`],
  parameters,
  config: {
    model_type: "opt",
    hidden_size: width,
    ffn_dim: 4 * width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    vocab_size: 50272,
    max_position_embeddings: 2048,
    word_embed_proj_dim: width,
    ...more,
  },
});

const neox = (
  width: number,
  layers: number,
  heads: number,
  vocabulary: number,
  parameters: number,
  ...names: string[]
): Entry => ({
  names,
  parameters,
  config: {
    model_type: "gpt_neox",
    hidden_size: width,
    intermediate_size: 4 * width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    vocab_size: vocabulary,
    max_position_embeddings: 2048,
    tie_word_embeddings: false,
  },
});

const bloom = (
  width: number,
  layers: number,
  heads: number,
  parameters: number,
  ...names: string[]
): Entry => ({
  names,
  parameters,
  config: { model_type: "bloom", hidden_size: width, n_layer: layers, n_head: heads, vocab_size: 250880 },
});

const STABLE: Config = { partial_rotary_factor: 0.25, use_qkv_bias: false };

/**
 * GPT-2 (OpenAI), OPT (Meta), Pythia and GPT-NeoX (EleutherAI), BLOOM (BigScience): sizes from their papers'
 * tables and config.json files; counts as transformers counts a loaded model.
 */
// prettier-ignore
const EARLIER: readonly Entry[] = [
  gpt2(768, 6, 12, 81_912_576, "distilbert/distilgpt2"),
  gpt2(768, 12, 12, 124_439_808, "openai-community/gpt2"),
  gpt2(1024, 24, 16, 354_823_168, "openai-community/gpt2-medium"),
  gpt2(1280, 36, 20, 774_030_080, "openai-community/gpt2-large"),
  gpt2(1600, 48, 25, 1_557_611_200, "openai-community/gpt2-xl"),
  opt(768, 12, 12, 125_239_296, "opt-125m"),
  opt(1024, 24, 16, 331_196_416, "opt-350m", { word_embed_proj_dim: 512, do_layer_norm_before: false }),
  opt(2048, 24, 32, 1_315_758_080, "opt-1.3b"),
  opt(2560, 32, 32, 2_651_596_800, "opt-2.7b"),
  opt(4096, 32, 32, 6_658_473_984, "opt-6.7b"),
  opt(5120, 40, 40, 12_853_473_280, "opt-13b"),
  opt(7168, 48, 56, 29_974_540_288, "opt-30b"),
  neox(512, 6, 8, 50304, 70_426_624, "EleutherAI/pythia-70m{,-deduped}"),
  neox(768, 12, 12, 50304, 162_322_944, "EleutherAI/pythia-160m{,-deduped}"),
  neox(1024, 24, 16, 50304, 405_334_016, "EleutherAI/pythia-410m{,-deduped}"),
  neox(2048, 16, 8, 50304, 1_011_781_632, "EleutherAI/pythia-1b{,-deduped}"),
  neox(2048, 24, 16, 50304, 1_414_647_808, "EleutherAI/pythia-1.4b{,-deduped}"),
  neox(2560, 32, 32, 50304, 2_775_208_960, "EleutherAI/pythia-2.8b{,-deduped}"),
  neox(4096, 32, 32, 50432, 6_857_302_016, "EleutherAI/pythia-6.9b{,-deduped}"),
  neox(5120, 36, 40, 50688, 11_846_072_320, "EleutherAI/pythia-12b{,-deduped}"),
  neox(6144, 44, 64, 50432, 20_554_567_680, "EleutherAI/gpt-neox-20b"),
  bloom(1024, 24, 16, 559_214_592, "bigscience/bloom-560m", "bigscience/bloomz-560m"),
  bloom(1536, 24, 16, 1_065_314_304, "bigscience/bloom-1b1", "bigscience/bloomz-1b1"),
  bloom(2048, 24, 16, 1_722_408_960, "bigscience/bloom-1b7", "bigscience/bloomz-1b7"),
  bloom(2560, 30, 32, 3_002_557_440, "bigscience/bloom-3b", "bigscience/bloomz-3b"),
  bloom(4096, 30, 32, 7_069_016_064, "bigscience/bloom-7b1", "bigscience/bloomz-7b1"),
];

/**
 * Google, Microsoft, AllenAI, BigCode, Stability and IBM: sizes from each model's config.json on the hub,
 * compared with Lightning-AI/litgpt's table where it has them; counts from the safetensors index.
 */
// prettier-ignore
const LATER: readonly Entry[] = [
  decoder("gemma2", [2304, 9216, 26, 8, 4, 256000, 8192], 2_614_341_888, ["google/gemma-2-2b{,-it}"], { ...TIED, head_dim: 256, sliding_window: 4096 }),
  decoder("gemma2", [3584, 14336, 42, 16, 8, 256000, 8192], 9_241_705_984, ["google/gemma-2-9b{,-it}"], { ...TIED, head_dim: 256, sliding_window: 4096 }),
  decoder("gemma2", [4608, 36864, 46, 32, 16, 256000, 8192], 27_227_128_320, ["google/gemma-2-27b{,-it}"], { ...TIED, head_dim: 128, sliding_window: 4096 }),
  decoder("gemma3_text", [640, 2048, 18, 4, 1, 262144, 32768], 268_098_176, ["google/gemma-3-270m{,-it}"], { ...TIED, head_dim: 256, sliding_window: 512 }),
  decoder("gemma3_text", [1152, 6912, 26, 4, 1, 262144, 32768], 999_885_952, ["google/gemma-3-1b-{pt,it}"], { ...TIED, head_dim: 256, sliding_window: 512 }),
  decoder("phi3", [3072, 8192, 32, 32, 32, 32064, 4096], 3_821_079_552, ["microsoft/Phi-3-mini-4k-instruct"], { sliding_window: 2047 }),
  decoder("phi3", [3072, 8192, 32, 32, 32, 32064, 131072], 3_821_079_552, ["microsoft/Phi-3-mini-128k-instruct", "microsoft/Phi-3.5-mini-instruct"], { sliding_window: 262144 }),
  decoder("phi3", [5120, 17920, 40, 40, 10, 32064, 4096], 13_960_238_080, ["microsoft/Phi-3-medium-4k-instruct"], { sliding_window: 2047 }),
  decoder("phi3", [5120, 17920, 40, 40, 10, 100352, 16384], 14_659_507_200, ["microsoft/phi-4"], { sliding_window: null }),
  decoder("phi3", [3072, 8192, 32, 24, 8, 200064, 131072], 3_836_021_760, ["microsoft/Phi-4-mini-{instruct,reasoning}"], { ...TIED, partial_rotary_factor: 0.75, sliding_window: 262144 }),
  decoder("olmo2", [2048, 8192, 16, 16, 16, 100352, 4096], 1_484_916_736, ["allenai/OLMo-2-0425-1B{,-Instruct}"]),
  decoder("olmo2", [4096, 11008, 32, 32, 32, 100352, 4096], null, ["allenai/OLMo-2-1124-7B{,-Instruct}"]),
  decoder("olmo2", [5120, 13824, 40, 40, 40, 100352, 4096], 13_716_198_400, ["allenai/OLMo-2-1124-13B{,-Instruct}"]),
  decoder("olmo2", [5120, 27648, 64, 40, 8, 100352, 4096], 32_234_279_936, ["allenai/OLMo-2-0325-32B{,-Instruct}"]),
  decoder("starcoder2", [3072, 12288, 30, 24, 2, 49152, 16384], 3_030_371_328, ["bigcode/starcoder2-3b"], { ...TIED, use_bias: true, sliding_window: 4096 }),
  decoder("starcoder2", [4608, 18432, 32, 36, 4, 49152, 16384], 7_173_923_840, ["bigcode/starcoder2-7b"], { ...TIED, use_bias: true, sliding_window: 4096 }),
  decoder("starcoder2", [6144, 24576, 40, 48, 4, 49152, 16384], 15_957_889_024, ["bigcode/starcoder2-15b"], { use_bias: true, sliding_window: 4096 }),
  decoder("stablelm", [2560, 6912, 32, 32, 32, 50304, 4096], 2_795_443_200, ["stabilityai/stablelm-3b-4e1t", "stabilityai/stablelm-zephyr-3b"], STABLE),
  decoder("stablelm", [2560, 6912, 32, 32, 32, 50304, 16384], 2_795_443_200, ["stabilityai/stable-code-3b"], STABLE),
  decoder("stablelm", [2048, 5632, 24, 32, 32, 100352, 4096], 1_644_515_328, ["stabilityai/stablelm-2-1_6b{,-chat}", "stabilityai/stablelm-2-zephyr-1_6b"], { ...STABLE, use_qkv_bias: true }),
  decoder("granite", [2048, 8192, 40, 32, 8, 49155, 131072], 2_533_531_648, ["ibm-granite/granite-3.1-2b-{base,instruct}"], TIED),
  decoder("granite", [4096, 12800, 40, 32, 8, 49155, 131072], 8_170_848_256, ["ibm-granite/granite-3.1-8b-{base,instruct}"], TIED),
];

export const OTHERS: readonly Entry[] = [...EARLIER, ...LATER];
