from transformers import AutoModelForCausalLM

from sharding import apply_fsdp_checkpointing


def later(name):
    # trap: switched off again below
    model = AutoModelForCausalLM.from_pretrained(name, use_cache=True)
    model.config.use_cache = False
    apply_fsdp_checkpointing(model)
    return model
