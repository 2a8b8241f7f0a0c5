import { UserError } from "../base/errors.ts";
import type { Config } from "./config.ts";
import { bloom } from "./bloom.ts";
import { gpt2 } from "./gpt2.ts";
import { gptNeox } from "./gpt-neox.ts";
import { llama } from "./llama.ts";
import { opt } from "./opt.ts";
import { mistral } from "./mistral.ts";
import { qwen2 } from "./qwen2.ts";
import { qwen3 } from "./qwen3.ts";
import { phi3 } from "./phi3.ts";
import { gemma2 } from "./gemma2.ts";
import { gemma3 } from "./gemma3.ts";
import { granite } from "./granite.ts";
import { olmo2 } from "./olmo2.ts";
import { starcoder2 } from "./starcoder2.ts";
import { stablelm } from "./stablelm.ts";
import { mixtral } from "./mixtral.ts";
import { qwen3Moe } from "./qwen3-moe.ts";
import type { Family } from "./net.ts";

/** Every family, once. */
export const FAMILIES: readonly Family[] = [
  gpt2,
  gptNeox,
  opt,
  bloom,
  llama,
  mistral,
  qwen2,
  qwen3,
  phi3,
  gemma2,
  gemma3,
  granite,
  olmo2,
  starcoder2,
  stablelm,
  mixtral,
  qwen3Moe,
];

export function familyOf(config: Config): Family {
  const type = config["model_type"];
  const family = FAMILIES.find((f) => f.types.includes(String(type)));
  if (!family) throw new UserError(`unknown model_type "${String(type)}"`);
  return family;
}
