import argparse

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig


def fetch(name, bits):
    return AutoModelForCausalLM.from_pretrained(name, quantization_config=bits)  # expect: PLM050


def read_all():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name")
    parser.add_argument("--four_bit", action="store_true")
    args = parser.parse_args()
    bits = None
    if args.four_bit:
        bits = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    return get_peft_model(fetch(args.name, bits), LoraConfig(r=8))


# Always given some.
def borrow(name, small):
    return AutoModelForCausalLM.from_pretrained(name, quantization_config=small)


def read_some(name):
    small = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    return get_peft_model(borrow(name, small), LoraConfig(r=8))
