"""Fine-tunes a chat model with QLoRA."""
import argparse
import os

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch
from datasets import load_dataset
from peft import LoraConfig, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="Qwen/Qwen2.5-7B")
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--max-length", type=int, default=1024 * 2)
parser.add_argument("--packing", action="store_true")
parser.add_argument("--data", required=True)
args = parser.parse_args()

EFFECTIVE_BATCH = 16
compute_dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16

bnb_config = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_compute_dtype=compute_dtype,
    bnb_4bit_use_double_quant=True,
)

model = AutoModelForCausalLM.from_pretrained(
    args.model,
    quantization_config=bnb_config,
    dtype=torch.bfloat16,
    attn_implementation="flash_attention_2",
    device_map={"": 0},
)
model = prepare_model_for_kbit_training(model)
tokenizer = AutoTokenizer.from_pretrained(args.model)

peft_config = LoraConfig(
    r=64,
    lora_alpha=128,
    lora_dropout=0.05,
    target_modules="all-linear",
    task_type="CAUSAL_LM",
)

training_args = SFTConfig(
    output_dir="out",
    per_device_train_batch_size=args.batch_size,
    gradient_accumulation_steps=EFFECTIVE_BATCH // args.batch_size,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    max_length=args.max_length,
    packing=args.packing,
    optim="paged_adamw_8bit",
    bf16=True,
    max_grad_norm=0.3,
)

trainer = SFTTrainer(
    model=model,
    args=training_args,
    train_dataset=load_dataset("json", data_files=args.data)["train"],
    peft_config=peft_config,
    processing_class=tokenizer,
)
trainer.train()
