import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pytorch } from "../../src/emit/pytorch/pytorch.ts";
import type { Recipe } from "../../src/plan/recipe.ts";
import { ADAPTER, CHECKPOINTED, LORA, recipe } from "../plan/recipes.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";

const STEPS: Partial<Recipe> = { dtype: "fp32", seq: 32, batch: 2, clip: false };
const IN_BACKWARD: Partial<Recipe> = { optimizerInBackward: true };
const ON_HOST: Partial<Recipe> = { optimizerOnHost: true };

/** Each beside the recipe it must train the same weights as. */
const CASES: Readonly<Record<string, readonly [Partial<Recipe>, same: string | null]>> = {
  plain: [{}, null],
  foreach: [{ optimizer: "adamw_foreach" }, "plain"],
  inBackward: [IN_BACKWARD, "plain"],
  onHost: [ON_HOST, "plain"],
  onHostInBackward: [{ ...ON_HOST, ...IN_BACKWARD }, "plain"],
  full: [{ checkpointing: CHECKPOINTED }, "plain"],
  reentrant: [{ checkpointing: { ...CHECKPOINTED, reentrant: true } }, "plain"],
  every: [{ checkpointing: { ...CHECKPOINTED, every: 2 } }, "plain"],
  offload: [{ checkpointing: { ...CHECKPOINTED, offload: true } }, "plain"],
  selective: [{ checkpointing: { ...CHECKPOINTED, kind: "selective" } }, "plain"],
  chunked: [{ loss: "chunked" }, "plain"],
  everything: [
    { ...ON_HOST, ...IN_BACKWARD, checkpointing: { ...CHECKPOINTED, offload: true }, loss: "chunked" },
    "plain",
  ],
  accumulated: [{ batch: 1, accumulation: 2 }, "plain"],
  accumulatedOnHost: [{ ...ON_HOST, batch: 1, accumulation: 2 }, "plain"],
  masked: [{ mask: true, clip: true }, null],
  maskedChunked: [{ mask: true, clip: true, loss: "chunked" }, "masked"],
  lora: [{ method: LORA, autocast: "bf16" }, null],
  loraAutocast: [
    { dtype: "bf16", method: { kind: "lora", adapter: { ...ADAPTER, autocast: true }, quantization: null } },
    null,
  ],
  loraChunked: [{ method: LORA, autocast: "bf16", loss: "chunked", checkpointing: CHECKPOINTED }, null],
  adafactor: [{ optimizer: "adafactor" }, null],
  momentum: [{ optimizer: "sgd_momentum" }, null],
};

/** Makes a model and a tokenizer of its words, runs every script, and tells how far each moved from where it began. */
const RUN = `
import json, os, runpy, sys
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast
from safetensors.torch import load_file

# Without a card there is no memory to pin.
import transformers.modeling_utils as utils
on_cpu = utils.save_on_cpu
utils.save_on_cpu = lambda pin_memory, device_type: on_cpu(pin_memory=False)

os.chdir(sys.argv[1])
torch.manual_seed(0)
config = AutoConfig.for_model("llama", hidden_size=32, intermediate_size=64, num_hidden_layers=4, num_attention_heads=4,
                              num_key_value_heads=2, vocab_size=64, tie_word_embeddings=False)
model = AutoModelForCausalLM.from_config(config)
model.save_pretrained("tiny")
words = {"w%d" % i: i for i in range(63)} | {"<end>": 63}
inner = Tokenizer(models.WordLevel(words, unk_token="<end>"))
inner.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>").save_pretrained("tiny")
with open("data.txt", "w") as file:
    for i in range(12):
        file.write(" ".join("w%d" % ((i * 7 + j * j) % 63) for j in range(10 + i)) + "\\n")

before = load_file("tiny/model.safetensors")
after, moved = {}, {}
for name in sys.argv[2:]:
    torch.manual_seed(1)
    sys.argv = ["train.py", "data.txt"]
    made = runpy.run_path(name + "/train.py")
    after[name] = {n: p.detach().clone() for n, p in made["model"].named_parameters() if p.requires_grad}
    start = {n: before.get(n, torch.zeros_like(p)) for n, p in after[name].items()}
    moved[name] = {
        "loss": made["loss"].item(),
        "by": max(float((p - start[n]).abs().max()) for n, p in after[name].items()),
        "from": {
            other: float(sum((after[other][n] - p).abs().sum() for n, p in after[name].items()) /
                         sum((p - start[n]).abs().sum() for n, p in after[name].items()))
            for other in after if after[other].keys() == after[name].keys()
        },
    }
print(json.dumps(moved))
`;

it("writes scripts that train, to the same weights whatever is saved on memory", async () => {
  const folder = emptyFolder();
  for (const [name, [more]] of Object.entries(CASES)) {
    const base = recipe("Qwen/Qwen2.5-7B", { ...STEPS, ...more });
    const one = { ...base, model: { ...base.model, name: "tiny" } };
    expect(pytorch.cannot(one)).toBeNull();
    mkdirSync(join(folder, name));
    const text = pytorch.files(one)[0]!.text.replace(/^LEARNING_RATE = .*$/m, "LEARNING_RATE = 1e-3");
    writeFileSync(join(folder, name, "train.py"), text);
  }
  const shown = await python(RUN, [folder, ...Object.keys(CASES)], { env: { OMP_NUM_THREADS: "1" } });
  const moved = JSON.parse(shown.trim().split("\n").at(-1)!) as Record<
    string,
    { loss: number; by: number; from: Record<string, number> }
  >;
  for (const [name, [, same]] of Object.entries(CASES)) {
    expect(moved[name]!.loss, name).toBeGreaterThan(0);
    expect(moved[name]!.by, name).toBeGreaterThan(1e-4);
    // fp32 sums in another order.
    if (same) expect(moved[name]!.from[same], name).toBeLessThan(1e-5);
  }
}, 600_000);
