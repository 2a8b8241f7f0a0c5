import { decoder, type Entry, type Sizes, TIED } from "./entry.ts";

const qwen2 = (sizes: Sizes, parameters: number, names: readonly string[], tied = false): Entry =>
  decoder("qwen2", sizes, parameters, names, { use_sliding_window: false, ...(tied ? TIED : {}) });
const qwen3 = (sizes: Sizes, parameters: number, names: readonly string[], tied = false): Entry =>
  decoder("qwen3", sizes, parameters, names, { head_dim: 128, ...(tied ? TIED : {}) });
const experts = (sizes: Sizes, width: number, parameters: number, names: readonly string[]): Entry =>
  decoder("qwen3_moe", sizes, parameters, names, {
    head_dim: 128,
    moe_intermediate_size: width,
    num_experts: 128,
    num_experts_per_tok: 8,
    decoder_sparse_step: 1,
    norm_topk_prob: true,
  });

/**
 * Qwen's: sizes from each model's config.json on the hub, compared with Lightning-AI/litgpt's table; counts
 * from the safetensors index. Where a tied head is stored twice (Qwen3 0.6B and 1.7B) the count is of
 * parameters, as the model card's "non-embedding" figure plus one table gives it.
 */
// prettier-ignore
export const QWEN: readonly Entry[] = [
  qwen2([896, 4864, 24, 14, 2, 151936, 32768], 494_032_768, ["Qwen/Qwen2-0.5B{,-Instruct}", "Qwen/Qwen2.5-0.5B{,-Instruct}", "Qwen/Qwen2.5-Coder-0.5B{,-Instruct}"], true),
  qwen2([1536, 8960, 28, 12, 2, 151936, 131072], 1_543_714_304, ["Qwen/Qwen2-1.5B{,-Instruct}", "Qwen/Qwen2.5-1.5B{,-Instruct}", "Qwen/Qwen2.5-Coder-1.5B{,-Instruct}"], true),
  qwen2([1536, 8960, 28, 12, 2, 151936, 4096], 1_543_714_304, ["Qwen/Qwen2.5-Math-1.5B{,-Instruct}"], true),
  qwen2([1536, 8960, 28, 12, 2, 151936, 131072], 1_777_088_000, ["deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B"]),
  qwen2([2048, 11008, 36, 16, 2, 151936, 32768], 3_085_938_688, ["Qwen/Qwen2.5-3B{,-Instruct}", "Qwen/Qwen2.5-Coder-3B{,-Instruct}"], true),
  qwen2([3584, 18944, 28, 28, 4, 152064, 131072], 7_615_616_512, ["Qwen/Qwen2-7B{,-Instruct}", "Qwen/Qwen2.5-7B{,-Instruct}", "Qwen/Qwen2.5-Coder-7B{,-Instruct}", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B"]),
  qwen2([3584, 18944, 28, 28, 4, 152064, 4096], 7_615_616_512, ["Qwen/Qwen2.5-Math-7B{,-Instruct}"]),
  qwen2([5120, 13824, 48, 40, 8, 152064, 131072], 14_770_033_664, ["Qwen/Qwen2.5-14B{,-Instruct}", "Qwen/Qwen2.5-Coder-14B{,-Instruct}", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"]),
  qwen2([5120, 27648, 64, 40, 8, 152064, 131072], 32_763_876_352, ["Qwen/Qwen2.5-32B{,-Instruct}", "Qwen/Qwen2.5-Coder-32B{,-Instruct}", "Qwen/QwQ-32B", "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"]),
  qwen2([8192, 29568, 80, 64, 8, 152064, 131072], 72_706_203_648, ["Qwen/Qwen2-72B{,-Instruct}", "Qwen/Qwen2.5-72B{,-Instruct}"]),
  qwen3([1024, 3072, 28, 16, 8, 151936, 40960], 596_049_920, ["Qwen/Qwen3-0.6B{,-Base}"], true),
  qwen3([2048, 6144, 28, 16, 8, 151936, 40960], 1_720_574_976, ["Qwen/Qwen3-1.7B{,-Base}"], true),
  qwen3([2560, 9728, 36, 32, 8, 151936, 40960], 4_022_468_096, ["Qwen/Qwen3-4B{,-Base}"], true),
  qwen3([2560, 9728, 36, 32, 8, 151936, 262144], 4_022_468_096, ["Qwen/Qwen3-4B-{Instruct,Thinking}-2507"], true),
  qwen3([4096, 12288, 36, 32, 8, 151936, 40960], 8_190_735_360, ["Qwen/Qwen3-8B{,-Base}"]),
  qwen3([5120, 17408, 40, 40, 8, 151936, 40960], 14_768_307_200, ["Qwen/Qwen3-14B{,-Base}"]),
  qwen3([5120, 25600, 64, 64, 8, 151936, 40960], 32_762_123_264, ["Qwen/Qwen3-32B"]),
  experts([2048, 6144, 48, 32, 4, 151936, 40960], 768, 30_532_122_624, ["Qwen/Qwen3-30B-A3B{,-Base}"]),
  experts([2048, 6144, 48, 32, 4, 151936, 262144], 768, 30_532_122_624, ["Qwen/Qwen3-30B-A3B-{Instruct,Thinking}-2507", "Qwen/Qwen3-Coder-30B-A3B-Instruct"]),
  experts([4096, 12288, 94, 64, 4, 151936, 40960], 1536, 235_093_634_560, ["Qwen/Qwen3-235B-A22B"]),
];
