import torch
from transformers import AutoConfig, AutoModelForCausalLM

from sharding import apply_fsdp_checkpointing


def branch(name, small):
    if small:
        model = AutoModelForCausalLM.from_pretrained(name, use_cache=True)  # expect: PLM054
    else:
        config = AutoConfig.from_pretrained(name)
        config.use_cache = False
        model = AutoModelForCausalLM.from_config(config)
    apply_fsdp_checkpointing(model)
    return model
