import torch
from transformers import BitsAndBytesConfig


def configs(options):
    a = BitsAndBytesConfig(load_in_4bit=True)  # expect: PLM063
    b = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)  # expect: PLM063
    # trap: both said
    c = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16, bnb_4bit_quant_type="nf4")
    # trap: 8 bits
    d = BitsAndBytesConfig(load_in_8bit=True)
    # trap: may be in the options
    e = BitsAndBytesConfig(load_in_4bit=True, **options)
    return a, b, c, d, e
