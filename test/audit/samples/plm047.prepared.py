import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM


def load(name):
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
    model.config.use_cache = False
    model.config.output_hidden_states = True  # expect: PLM047
    # trap: for what it writes after training
    model.generation_config.output_attentions = True
    return get_peft_model(model, LoraConfig(r=8))
