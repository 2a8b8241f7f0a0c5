import { decoder, type Entry } from "./entry.ts";

const WINDOW = { sliding_window: 4096 };
const NO_WINDOW = { sliding_window: null };
const WIDE_HEADS = { head_dim: 128, sliding_window: null };

/** Mistral's and Mixtral's: sizes from each model's config.json on the hub, counts from its safetensors index. */
// prettier-ignore
export const MISTRAL: readonly Entry[] = [
  decoder("mistral", [4096, 14336, 32, 32, 8, 32000, 32768], 7_241_732_096, ["mistralai/Mistral-7B{,-Instruct}-v0.1", "HuggingFaceH4/zephyr-7b-{alpha,beta}"], WINDOW),
  decoder("mistral", [4096, 14336, 32, 32, 8, 32002, 32768], 7_241_748_480, ["teknium/OpenHermes-2.5-Mistral-7B"], WINDOW),
  decoder("mistral", [4096, 14336, 32, 32, 8, 32000, 32768], 7_241_732_096, ["mistralai/Mistral-7B-Instruct-v0.2"], NO_WINDOW),
  decoder("mistral", [4096, 14336, 32, 32, 8, 32768, 32768], 7_248_023_552, ["mistralai/Mistral-7B{,-Instruct}-v0.3"], NO_WINDOW),
  decoder("mistral", [5120, 14336, 40, 32, 8, 131072, 131072], 12_247_782_400, ["mistralai/Mistral-Nemo-{Base,Instruct}-2407"], WIDE_HEADS),
  decoder("mistral", [6144, 16384, 56, 48, 8, 32768, 32768], 22_247_282_688, ["mistralai/Mistral-Small-Instruct-2409", "mistralai/Codestral-22B-v0.1"], WIDE_HEADS),
  decoder("mistral", [5120, 32768, 40, 32, 8, 131072, 32768], 23_572_403_200, ["mistralai/Mistral-Small-24B-{Base,Instruct}-2501"], WIDE_HEADS),
  decoder("mistral", [12288, 28672, 88, 96, 8, 32768, 131072], 122_610_069_504, ["mistralai/Mistral-Large-Instruct-2407"], WIDE_HEADS),
  decoder("mixtral", [4096, 14336, 32, 32, 8, 32000, 32768], 46_702_792_704, ["mistralai/Mixtral-8x7B{,-Instruct}-v0.1"], { ...NO_WINDOW, num_local_experts: 8, num_experts_per_tok: 2 }),
  decoder("mixtral", [6144, 16384, 56, 48, 8, 32768, 65536], 140_630_071_296, ["mistralai/Mixtral-8x22B-Instruct-v0.1"], { ...NO_WINDOW, num_local_experts: 8, num_experts_per_tok: 2 }),
];
