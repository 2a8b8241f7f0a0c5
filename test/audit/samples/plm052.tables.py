from dataclasses import dataclass, field

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class Settings(TrainingArguments):
    # trap: whatever the model, its table is trained
    gradient_checkpointing: bool = field(default=True)


def train(name, data):
    (settings,) = HfArgumentParser(Settings).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained(name)
    if "instruct" in name:
        whole = ["wte"]
    else:
        whole = ["wte", "lm_head"]
    model = get_peft_model(model, LoraConfig(r=8, modules_to_save=whole))
    Trainer(model=model, args=settings, train_dataset=data).train()
