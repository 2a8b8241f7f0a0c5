from transformers import AutoModelForCausalLM


def full(name):
    # trap: trained in full under autocast, float32 weights are right
    return AutoModelForCausalLM.from_pretrained(name)
