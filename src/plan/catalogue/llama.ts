import { decoder, type Entry, type Sizes, TIED } from "./entry.ts";

const llama = (sizes: Sizes, parameters: number | null, ...names: readonly string[]): Entry =>
  decoder("llama", sizes, parameters, names);
const tied = (sizes: Sizes, parameters: number | null, ...names: readonly string[]): Entry =>
  decoder("llama", sizes, parameters, names, TIED);
const wide = (sizes: Sizes, parameters: number | null, ...names: readonly string[]): Entry =>
  decoder("llama", sizes, parameters, names, { head_dim: 256 });

/**
 * Models of type "llama". Sizes from each model's config.json on the Hugging Face hub, compared with the
 * table in Lightning-AI/litgpt's litgpt/config.py where it has them; parameter counts from the hub's
 * safetensors index.
 */
// prettier-ignore
export const LLAMA: readonly Entry[] = [
  llama([4096, 11008, 32, 32, 32, 32000, 2048], 6_738_415_616, "huggyllama/llama-7b", "openlm-research/open_llama_7b", "lmsys/vicuna-7b-v1.3"),
  llama([5120, 13824, 40, 40, 40, 32000, 2048], 13_015_864_320, "huggyllama/llama-13b", "openlm-research/open_llama_13b", "lmsys/vicuna-13b-v1.3"),
  llama([6656, 17920, 60, 52, 52, 32000, 2048], 32_528_943_616, "huggyllama/llama-30b"),
  llama([8192, 22016, 80, 64, 64, 32000, 2048], 65_285_660_672, "huggyllama/llama-65b"),
  llama([3200, 8640, 26, 32, 32, 32000, 2048], 3_426_473_600, "openlm-research/open_llama_3b"),
  llama([4096, 11008, 32, 32, 32, 32000, 4096], 6_738_415_616, "meta-llama/Llama-2-7b{,-chat}-hf", "lmsys/vicuna-7b-v1.5", "NousResearch/Llama-2-7b{,-chat}-hf"),
  llama([5120, 13824, 40, 40, 40, 32000, 4096], 13_015_864_320, "meta-llama/Llama-2-13b{,-chat}-hf", "lmsys/vicuna-13b-v1.5", "NousResearch/Llama-2-13b{,-chat}-hf"),
  llama([8192, 28672, 80, 64, 8, 32000, 4096], 68_976_648_192, "meta-llama/Llama-2-70b{,-chat}-hf"),
  llama([4096, 14336, 32, 32, 8, 128256, 8192], 8_030_261_248, "meta-llama/Meta-Llama-3-8B{,-Instruct}", "NousResearch/Meta-Llama-3-8B{,-Instruct}"),
  llama([8192, 28672, 80, 64, 8, 128256, 8192], 70_553_706_496, "meta-llama/Meta-Llama-3-70B{,-Instruct}"),
  llama([4096, 14336, 32, 32, 8, 128256, 131072], 8_030_261_248, "meta-llama/{,Meta-}Llama-3.1-8B{,-Instruct}", "deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "NousResearch/Hermes-3-Llama-3.1-8B", "meta-llama/Llama-Guard-3-8B", "allenai/Llama-3.1-Tulu-3-8B-SFT"),
  llama([8192, 28672, 80, 64, 8, 128256, 131072], 70_553_706_496, "meta-llama/{,Meta-}Llama-3.1-70B{,-Instruct}", "meta-llama/Llama-3.3-70B-Instruct", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "nvidia/Llama-3.1-Nemotron-70B-Instruct-HF"),
  llama([16384, 53248, 126, 128, 8, 128256, 131072], 405_853_388_800, "meta-llama/{,Meta-}Llama-3.1-405B{,-Instruct}"),
  tied([2048, 8192, 16, 32, 8, 128256, 131072], 1_235_814_400, "meta-llama/Llama-3.2-1B{,-Instruct}", "unsloth/Llama-3.2-1B{,-Instruct}"),
  tied([3072, 8192, 28, 24, 8, 128256, 131072], 3_212_749_824, "meta-llama/Llama-3.2-3B{,-Instruct}", "unsloth/Llama-3.2-3B{,-Instruct}"),
  llama([4096, 11008, 32, 32, 32, 32016, 16384], 6_738_546_688, "codellama/CodeLlama-7b{,-Instruct}-hf"),
  llama([5120, 13824, 40, 40, 40, 32016, 16384], 13_016_028_160, "codellama/CodeLlama-13b{,-Instruct}-hf"),
  llama([8192, 22016, 48, 64, 8, 32000, 16384], 33_743_970_304, "codellama/CodeLlama-34b{,-Python,-Instruct}-hf"),
  llama([2048, 5632, 22, 32, 4, 32000, 2048], 1_100_048_384, "TinyLlama/TinyLlama-1.1B-Chat-v1.0", "TinyLlama/TinyLlama-1.1B-intermediate-step-1431k-3T"),
  tied([576, 1536, 30, 9, 3, 49152, 8192], 134_515_008, "HuggingFaceTB/SmolLM2-135M{,-Instruct}"),
  tied([960, 2560, 32, 15, 5, 49152, 8192], 361_821_120, "HuggingFaceTB/SmolLM2-360M{,-Instruct}"),
  tied([2048, 8192, 24, 32, 32, 49152, 8192], 1_711_376_384, "HuggingFaceTB/SmolLM2-1.7B{,-Instruct}"),
  llama([4096, 11008, 32, 32, 4, 64000, 4096], 6_061_035_520, "01-ai/Yi-6B", "01-ai/Yi-1.5-6B{,-Chat}"),
  llama([4096, 11008, 48, 32, 4, 64000, 4096], 8_829_407_232, "01-ai/Yi-9B", "01-ai/Yi-1.5-9B{,-Chat}"),
  llama([7168, 20480, 60, 56, 8, 64000, 4096], 34_388_917_248, "01-ai/Yi-34B", "01-ai/Yi-1.5-34B{,-Chat}"),
  llama([4096, 11008, 30, 32, 32, 102400, 4096], 6_910_365_696, "deepseek-ai/deepseek-llm-7b-{base,chat}"),
  llama([2048, 5504, 24, 16, 16, 32256, 16384], 1_346_471_936, "deepseek-ai/deepseek-coder-1.3b-{base,instruct}"),
  llama([4096, 11008, 32, 32, 32, 32256, 16384], 6_740_512_768, "deepseek-ai/deepseek-coder-6.7b-{base,instruct}"),
  llama([7168, 19200, 62, 56, 8, 32256, 16384], 33_342_991_360, "deepseek-ai/deepseek-coder-33b-{base,instruct}"),
  llama([4096, 14336, 48, 32, 8, 32000, 4096], 10_731_524_096, "upstage/SOLAR-10.7B{,-Instruct}-v1.0"),
  wide([2048, 8192, 18, 8, 4, 131072, 4096], 1_669_408_768, "tiiuae/Falcon3-1B-{Base,Instruct}"),
  wide([3072, 9216, 22, 12, 4, 131072, 32768], 3_227_655_168, "tiiuae/Falcon3-3B-{Base,Instruct}"),
  wide([3072, 23040, 28, 12, 4, 131072, 32768], 7_455_550_464, "tiiuae/Falcon3-7B-{Base,Instruct}"),
  wide([3072, 23040, 40, 12, 4, 131072, 32768], 10_305_653_760, "tiiuae/Falcon3-10B-{Base,Instruct}"),
  decoder("smollm3", [2048, 11008, 36, 16, 4, 128256, 65536], 3_075_098_624, ["HuggingFaceTB/SmolLM3-3B{,-Base}"], TIED),
];
