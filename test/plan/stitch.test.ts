import { describe, expect, it } from "vitest";
import { execute, executeAll } from "../../src/plan/execute.ts";
import { DEFAULT_RECIPE, type Recipe } from "../../src/plan/recipe.ts";
import type { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

const llama = {
  name: "llama",
  config: {
    model_type: "llama",
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 9,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    vocab_size: 512,
  },
};
const gpt2 = {
  name: "gpt2",
  config: { model_type: "gpt2", n_embd: 64, n_layer: 8, n_head: 4, vocab_size: 512 },
};
const gemma3 = {
  name: "gemma3",
  config: {
    model_type: "gemma3_text",
    hidden_size: 64,
    intermediate_size: 128,
    num_hidden_layers: 12,
    num_attention_heads: 4,
    num_key_value_heads: 1,
    head_dim: 16,
    vocab_size: 512,
  },
};
const adapter = { rank: 4, dropout: 0.1, targets: "all-linear", dora: false, nonlinearity: "none" } as const;
const full = { kind: "full", reentrant: false, every: 1, offload: false } as const;

const recipes: Record<string, Partial<Recipe>> = {
  "full training": {},
  "LoRA without input gradients": { method: { kind: "lora", adapter, quantization: null } },
  "checkpoints, accumulation": { checkpointing: full, accumulation: 3 },
  "reentrant checkpoints": { checkpointing: { ...full, reentrant: true } },
  "every second layer checkpointed": { checkpointing: { ...full, every: 2 } },
  "selective checkpoints": { checkpointing: { ...full, kind: "selective" } },
  "offloaded checkpoints": { checkpointing: { ...full, offload: true } },
  "eager attention under autocast": { dtype: "fp32", autocast: "bf16", attention: "eager", mask: true },
  "optimizer inside backward": { optimizerInBackward: true, clip: false },
  "frozen layers": { method: { kind: "full", frozenLayers: 5 } },
  "4-bit base": {
    method: {
      kind: "lora",
      adapter,
      quantization: { type: "nf4", doubleQuant: true, computeDtype: "bf16", prepared: true },
    },
    checkpointing: full,
  },
};

/** Events as text, storages numbered by birth; a run of frees has no order that matters. */
function events(tape: Tape): string[] {
  const { action, storage, bytes, phase, kind, step, module } = tape.columns;
  const numbers = new Map<number, number>();
  const lines: string[] = [];
  let frees: string[] = [];
  for (let row = 0; row < tape.length; row++) {
    const born = action[row] === Action.alloc;
    if (born) {
      lines.push(...frees.sort());
      frees = [];
      numbers.set(storage[row]!, numbers.size);
    }
    const text = `${action[row]} ${bytes[row]} ${phase[row]} ${kind[row]} ${step[row]} ${tape.modules.text(module[row]!)} ${numbers.get(storage[row]!)}`;
    (born ? lines : frees).push(text);
  }
  return [...lines, ...frees.sort()];
}

const divided: Record<string, Partial<Recipe>> = {
  "layers divided over cards": {
    parallel: { kind: "tensor", ranks: 2, offload: false },
    checkpointing: full,
  },
};

describe("five layers for all", () => {
  for (const model of [llama, gpt2, gemma3]) {
    for (const [name, choice] of Object.entries({ ...recipes, ...(model === llama ? divided : {}) })) {
      it(`${model.name}: ${name}`, () => {
        const recipe: Recipe = { ...DEFAULT_RECIPE, batch: 2, seq: 32, ...choice, model };
        const short = execute(recipe);
        const whole = executeAll(recipe);
        expect(events(short.tape)).toEqual(events(whole.tape));
        expect(short.hostPeak).toBe(whole.hostPeak);
        const flops = (work: typeof short.work): number =>
          work.reduce(
            (n, w) => n + w.times * (w.kind === "product" ? w.rows * w.columns * w.inner * w.batch : w.flops),
            0,
          );
        expect(flops(short.work)).toBe(flops(whole.work));
      });
    }
  }
});
