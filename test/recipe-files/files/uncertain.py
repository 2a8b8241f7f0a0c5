import os
import sys

from transformers import AutoConfig, AutoModelForCausalLM, TrainingArguments

size = 4
if len(sys.argv) > 1:
    size = 8

steps = read_settings()["steps"]

model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(os.environ.get("MODEL", "gpt2")))
arguments = TrainingArguments(
    "out",
    per_device_train_batch_size=size,
    gradient_accumulation_steps=steps,
    optim="galore_adamw",
    bf16=bool(int(os.environ.get("BF16", "1"))),
    gradient_checkpointing=steps > 1,
    max_grad_norm=0,
    torch_compile=True,
    deepspeed="ds.json",
)
