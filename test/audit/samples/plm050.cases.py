import torch
from peft import get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig


def load(name, bits, adapters):
    settings = {"device_map": "auto"}
    if bits == 4:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
    elif bits == 8:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    return get_peft_model(
        AutoModelForCausalLM.from_pretrained(name, **settings),  # expect: PLM050
        adapters,
    )


def load_half(name, bits, adapters):
    settings = {"device_map": "auto"}
    if bits == 4:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
    elif bits == 16:
        settings["torch_dtype"] = torch.bfloat16
    # trap: who names a type for one of them wants the rest as it is
    return get_peft_model(AutoModelForCausalLM.from_pretrained(name, **settings), adapters)


def load_else(name, bits, adapters):
    settings = {"device_map": "auto"}
    if bits == 4:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
    elif bits == 8:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    else:
        settings["torch_dtype"] = torch.bfloat16
    # trap: the rest has a type
    return get_peft_model(AutoModelForCausalLM.from_pretrained(name, **settings), adapters)


def load_one(name, quantized, adapters):
    settings = {"device_map": "auto"}
    if quantized:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
    # trap: it may be asked for always
    return get_peft_model(AutoModelForCausalLM.from_pretrained(name, **settings), adapters)


def load_asked(name, cfg, adapters):
    settings = {"revision": cfg.revision, "device_map": None}
    settings = {key: value for key, value in settings.items() if value is not None}
    if cfg.load_in_8bit:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    if cfg.adapter == "qlora" and cfg.load_in_4bit:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
    return get_peft_model(
        AutoModelForCausalLM.from_pretrained(name, **settings),  # expect: PLM050
        adapters,
    )
