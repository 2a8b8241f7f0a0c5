from dataclasses import dataclass

import transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer


@dataclass
class Settings(transformers.TrainingArguments):
    small: bool = False


@dataclass
class Adapters:
    rank: int = 8
    quantized: bool = False


def main(data):
    settings, lora_args = HfArgumentParser((Settings, Adapters)).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("base", use_cache=not settings.gradient_checkpointing)
    if lora_args.quantized:
        model = prepare_model_for_kbit_training(
            model, use_gradient_checkpointing=settings.gradient_checkpointing
        )
    # trap: a head that is trained does not feed what comes before it
    saved = None if settings.small else ["lm_head"]
    config = LoraConfig(r=lora_args.rank, target_modules=["q_proj"], modules_to_save=saved)
    model = get_peft_model(model, config)  # likely: PLM052
    Trainer(model, settings, train_dataset=data).train()
