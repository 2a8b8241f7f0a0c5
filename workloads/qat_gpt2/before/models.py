"""GPT-2 whose linear layers compute in a bit-width chosen for each step."""
import functools

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.pytorch_utils import Conv1D

from lora import QuantizedLinear
from quantization import LearnableFakeQuantize

SIZES = {
    "tiny": dict(n_embd=96, n_layer=4, n_head=4, vocab_size=512, n_positions=128, bos_token_id=0, eos_token_id=0),
    "full": dict(),  # GPT-2, 124 M parameters
}


class CheckpointedBlock(nn.Module):
    def __init__(self, block, index):
        super().__init__()
        self.block = block
        self.index = index
        self.dropout = block.mlp.dropout

    def forward(self, hidden_states, *args, **kwargs):
        if self.training:
            hidden_states = checkpoint(
                functools.partial(self.block, **kwargs),
                hidden_states,
                *args,
                use_reentrant=False,
                preserve_rng_state=False,  # Reduce memory usage
            )
        else:
            hidden_states = self.block(hidden_states, *args, **kwargs)
        # Force cleanup after every 4 layers to prevent memory accumulation
        if self.index % 4 == 3 and torch.cuda.is_available():
            torch.cuda.empty_cache()
        return hidden_states


def build(size, bit_widths, rank, device, gradient_checkpointing=False):
    config = GPT2Config(**SIZES[size])
    with torch.device(device):
        model = GPT2LMHeadModel(config)
        for parameter in model.parameters():
            parameter.requires_grad = False
        for module in list(model.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, Conv1D):
                    setattr(module, name, QuantizedLinear(child, rank, 2 * rank, max(bit_widths)))
    if gradient_checkpointing:
        blocks = model.transformer.h
        for i, block in enumerate(blocks):
            blocks[i] = CheckpointedBlock(block, i)
    return model


def set_bits(model, bits):
    for module in model.modules():
        if isinstance(module, LearnableFakeQuantize):
            module.set_bits(bits)
