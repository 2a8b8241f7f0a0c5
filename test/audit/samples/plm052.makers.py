from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def load(name):
    return AutoModelForCausalLM.from_pretrained(name)


def adapt(model):
    return get_peft_model(model, LoraConfig(r=8))


def made(name):
    model = load(name)
    return get_peft_model(model, LoraConfig(r=8))


def tune(name, rows):
    model = made(name)
    model.base_model.gradient_checkpointing_enable()  # expect: PLM052
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows).train()


def tune_before(name, rows):
    model = load(name)
    # trap: peft sees it when it wraps the model
    model.gradient_checkpointing_enable()
    model = adapt(model)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows).train()
