from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments


def main(data):
    (settings,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    model = AutoModelForCausalLM.from_pretrained("base")
    if settings.gradient_checkpointing:
        # trap: the other path, which needs no help
        settings.gradient_checkpointing_kwargs = {"use_reentrant": False}
    model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
    Trainer(model, settings, train_dataset=data).train()
