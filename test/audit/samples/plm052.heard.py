from peft import LoraConfig, get_peft_model
from transformers import WhisperForConditionalGeneration


def load(path):
    model = WhisperForConditionalGeneration.from_pretrained(path)
    model.gradient_checkpointing_enable()  # expect: PLM052
    return get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"]))


def newer(path):
    model = WhisperForConditionalGeneration.from_pretrained(path)
    # trap: the other path
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"]))
