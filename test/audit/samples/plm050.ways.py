import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig


def create(options):
    settings = dict(trust_remote_code=True)

    def load(settings):
        return AutoModelForCausalLM.from_pretrained(options.name, **settings)  # expect: PLM050

    if options.mode == "quantized":
        settings.update(quantization_config=BitsAndBytesConfig(load_in_4bit=True))
        base = load(settings)
    else:
        base = load(settings)
    return get_peft_model(base, LoraConfig(r=8))


def in_place(options):
    settings = {"device_map": "auto"}
    if options.quantized:
        settings["quantization_config"] = BitsAndBytesConfig(load_in_4bit=True)
        # trap: what is put in above
        return AutoModelForCausalLM.from_pretrained(options.name, **settings)
    return AutoModelForCausalLM.from_pretrained(options.name, **settings)  # expect: PLM050


def load_with(name, settings):
    # trap: all who call it say a type
    return AutoModelForCausalLM.from_pretrained(name, **settings)


def typed(options):
    settings = dict(trust_remote_code=True, torch_dtype=torch.bfloat16)
    other = {"device_map": "auto"}
    if options.half:
        other["torch_dtype"] = torch.float16
    else:
        other.update(torch_dtype=torch.bfloat16)
    return load_with(options.name, settings), load_with(options.name, other)


def load_any(name, settings):
    # trap: who knows what comes along
    return AutoModelForCausalLM.from_pretrained(name, **settings)


def filled(options, more):
    settings = dict(trust_remote_code=True)
    settings.update(more)
    return load_any(options.name, settings)


def load_typed(name, settings):
    # trap: said here
    return AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto", **settings)


def plain(options):
    settings = dict(trust_remote_code=True)
    return load_typed(options.name, settings)
