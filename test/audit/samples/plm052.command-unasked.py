from dataclasses import dataclass

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser


@dataclass
class Own:
    gradient_checkpointing: bool = False


def main(fit, data):
    (settings,) = HfArgumentParser(Own).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("base")
    # trap: no option of a Trainer: who knows what is done of it
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
    fit(model, data, settings.gradient_checkpointing)
