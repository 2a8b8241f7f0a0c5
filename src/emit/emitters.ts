import { accelerate } from "./accelerate.ts";
import { axolotl } from "./axolotl.ts";
import { deepspeed } from "./deepspeed.ts";
import type { Emitter } from "./emitter.ts";
import { env } from "./env.ts";
import { hydra } from "./hydra.ts";
import { launch } from "./launch.ts";
import { llamaFactory } from "./llama-factory.ts";
import { pytorch } from "./pytorch/pytorch.ts";
import { torchtune } from "./torchtune.ts";
import { trainer } from "./trainer.ts";
import { trl } from "./trl.ts";

/** Every emitter, in the order of --help. */
export const EMITTERS: readonly Emitter[] = [
  trl,
  trainer,
  pytorch,
  axolotl,
  llamaFactory,
  torchtune,
  hydra,
  accelerate,
  deepspeed,
  env,
  launch,
];
