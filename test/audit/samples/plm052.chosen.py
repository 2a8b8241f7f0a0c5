from dataclasses import dataclass, field

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


@dataclass
class Settings(TrainingArguments):
    gradient_checkpointing: bool = field(default=True)  # expect: PLM052


def train(name, data):
    (settings,) = HfArgumentParser(Settings).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained(name)
    whole = None if "instruct" in name else ["wte", "lm_head"]
    model = get_peft_model(model, LoraConfig(r=8, modules_to_save=whole))
    Trainer(model=model, args=settings, train_dataset=data).train()
