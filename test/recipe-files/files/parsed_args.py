from dataclasses import dataclass, field

import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, HfArgumentParser, TrainingArguments
from trl import SFTTrainer


@dataclass
class ScriptArguments:
    model_name: str = field(default="mistralai/Mistral-7B-v0.3", metadata={"help": "the base"})
    max_seq_length: int = field(default=2048)
    lora_r: int = field(default=32)
    use_4bit: bool = field(default=False)


@dataclass
class Arguments(TrainingArguments):
    per_device_train_batch_size: int = 3
    bf16: bool = True


parser = HfArgumentParser((ScriptArguments, Arguments))
script_args, training_args = parser.parse_args_into_dataclasses()

if script_args.use_4bit:
    quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
else:
    quantization = None

model = AutoModelForCausalLM.from_pretrained(
    script_args.model_name, quantization_config=quantization, torch_dtype=torch.bfloat16
)
trainer = SFTTrainer(
    model,
    training_args,
    max_seq_length=script_args.max_seq_length,
    packing=True,
    peft_config=LoraConfig(r=script_args.lora_r, target_modules=r".*\.(q|k|v|o)_proj", use_dora=True),
)
trainer.train()
