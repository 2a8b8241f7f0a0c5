import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer


def build(name, quantized, options):
    base = AutoModelForCausalLM.from_pretrained(name)  # expect: PLM050
    # trap: no model
    tokenizer = AutoTokenizer.from_pretrained(name)
    # trap: said
    half = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
    # trap: quantized
    small = AutoModelForCausalLM.from_pretrained(name, quantization_config=quantized)
    # trap: may be in the options
    other = AutoModelForCausalLM.from_pretrained(name, **options)
    return get_peft_model(base, LoraConfig(r=8)), tokenizer, half, small, other


def load(kind, name):
    return kind.from_pretrained(name)  # expect: PLM050


def other(kind, name):
    # trap: a model or a tokenizer
    return kind.from_pretrained(name)


def both(name):
    return load(AutoModelForCausalLM, name), other(AutoModelForCausalLM, name), other(AutoTokenizer, name)
