"""Phi-4 with LoRA adapters."""
from dataclasses import dataclass

import torch
from peft import LoraConfig, get_peft_model

from harness.build import causal_model, fill_adapters

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


@dataclass
class Phi4ModelConfig:
    model_name: str
    torch_dtype: str = "float16"
    attn_implementation: str = "sdpa"
    low_cpu_mem_usage: bool = False
    use_cache: bool = True
    gradient_checkpointing: bool = False
    checkpoint_every: int = 1
    autocast_adapters: bool = False

    @property
    def autocast(self):
        """What the adapters compute in; None: in fp32, as PEFT keeps them."""
        return DTYPES[self.torch_dtype] if self.autocast_adapters else None


def build(config, lora, weights_file, device):
    # low_cpu_mem_usage: the weights are made on their device, never whole in host memory
    place = device if config.low_cpu_mem_usage or device.type == "cuda" else torch.device("cpu")
    model = causal_model(weights_file, DTYPES[config.torch_dtype], place, config.attn_implementation).to(device)
    model.config.use_cache = config.use_cache
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", **lora))
    fill_adapters(model)
    if config.gradient_checkpointing:
        model.gradient_checkpointing_enable(
            gradient_checkpointing_kwargs={"use_reentrant": False}, every_n_layers=config.checkpoint_every
        )
        model.enable_input_require_grads()
    return model
