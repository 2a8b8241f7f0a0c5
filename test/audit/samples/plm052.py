from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, TrainingArguments


def build(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model = get_peft_model(model, LoraConfig(r=8))
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})  # expect: PLM052
    return model


def arguments():
    return TrainingArguments(
        "out",
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": True},  # expect: PLM052
    )


def silent(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    # trap: before the wrapping, peft sees it and makes the inputs require gradients
    model.gradient_checkpointing_enable({"use_reentrant": True})
    model = get_peft_model(model, LoraConfig(r=8))
    # trap: the other path needs no input gradients
    model.gradient_checkpointing_enable({"use_reentrant": False})
    # trap: the default depends on the version
    model.gradient_checkpointing_enable()
    return model
