from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


def main(data):
    (settings,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("base")
    if settings.gradient_checkpointing:
        # trap: fed where it is asked for
        model.enable_input_require_grads()
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
    Trainer(model, settings, train_dataset=data).train()
