"""Models from a configuration, with random weights, made where they will be used."""
import json

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM


def causal_model(config_file, dtype, device, attention="sdpa"):
    with open(config_file) as f:
        config = AutoConfig.for_model(**json.load(f))
    with torch.device(device):
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation=attention)


def to_4bit(model, device):
    """What loading with BitsAndBytesConfig(load_in_4bit, nf4, double quantisation) leaves: every linear but the head."""
    import bitsandbytes as bnb

    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if not isinstance(child, nn.Linear) or name == "lm_head":
                continue
            packed = bnb.nn.Linear4bit(
                child.in_features, child.out_features, bias=child.bias is not None, compute_dtype=torch.bfloat16,
                compress_statistics=True, quant_type="nf4", device="meta",
            )
            packed.weight = bnb.nn.Params4bit(
                child.weight.data.cpu(), requires_grad=False, compress_statistics=True, quant_type="nf4"
            )
            packed.bias = child.bias
            setattr(parent, name, packed.to(device))
    model.is_loaded_in_4bit = True
    if torch.cuda.is_available():
        # The unpacked weights were never on the card where a checkpoint is loaded layer by layer.
        torch.cuda.empty_cache()
    return model


def fill_adapters(model, seed=1):
    """The same numbers in every LoRA's A, whoever made the module: in the order of the layers."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".lora_A." in name and name.endswith(".weight"):
                bound = parameter.size(1) ** -0.5
                values = torch.empty(parameter.shape).uniform_(-bound, bound, generator=generator)
                parameter.copy_(values)
