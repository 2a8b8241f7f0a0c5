from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def load(path):
    model = AutoModelForCausalLM.from_pretrained(path)
    # trap: peft sees that it is on, and hooks the only embeddings there are
    model.gradient_checkpointing_enable()
    return get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"]))
