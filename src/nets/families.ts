import { UserError } from "../base/errors.ts";
import type { Config } from "./config.ts";
import { gpt2 } from "./gpt2.ts";
import { gptNeox } from "./gpt-neox.ts";
import { llama } from "./llama.ts";
import { opt } from "./opt.ts";
import type { Family } from "./net.ts";

/** Every family, once. */
export const FAMILIES: readonly Family[] = [gpt2, gptNeox, opt, llama];

export function familyOf(config: Config): Family {
  const type = config["model_type"];
  const family = FAMILIES.find((f) => f.types.includes(String(type)));
  if (!family) throw new UserError(`unknown model_type "${String(type)}"`);
  return family;
}
