from dataclasses import dataclass, field

from peft import LoraConfig, get_peft_model
from transformers import LlamaForCausalLM, Trainer, TrainingArguments


@dataclass
class Settings(TrainingArguments):
    gradient_checkpointing: bool = field(default=True)  # expect: PLM052


@dataclass
class Plain(TrainingArguments):
    # trap: off
    gradient_checkpointing: bool = field(default=False)


@dataclass
class Model:
    # trap: a model's own, which it reads as it likes
    gradient_checkpointing: bool = True


def train(name, data, args: Settings):
    # trap: without a word of checkpointing
    model = get_peft_model(LlamaForCausalLM.from_pretrained(name), LoraConfig(r=8))
    Trainer(model=model, args=args, train_dataset=data).train()
