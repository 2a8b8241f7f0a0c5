"""A frozen layer with quantised weight and input, and a quantised low-rank adapter beside it."""
import torch
import torch.nn as nn

from quantization import LearnableFakeQuantize


class QuantizedLoRA(nn.Module):
    def __init__(self, inputs, outputs, rank, alpha, bits):
        super().__init__()
        self.lora_A = nn.Parameter(torch.randn(inputs, rank) * 0.02)
        self.lora_B = nn.Parameter(torch.zeros(rank, outputs))
        self.scaling = alpha / rank
        self.quantize_A = LearnableFakeQuantize(bits)
        self.quantize_B = LearnableFakeQuantize(bits)

    def forward(self, x):
        # Creates new tensors every time
        lora_A = self.quantize_A(self.lora_A)
        lora_B = self.quantize_B(self.lora_B)
        return (x @ lora_A @ lora_B) * self.scaling


class QuantizedLinear(nn.Module):
    """In place of GPT-2's Conv1D (weight: inputs × outputs)."""

    def __init__(self, layer, rank, alpha, bits):
        super().__init__()
        inputs, outputs = layer.weight.shape
        self.weight = nn.Parameter(layer.weight.detach(), requires_grad=False)
        self.bias = nn.Parameter(layer.bias.detach(), requires_grad=False)
        self.quantize_input = LearnableFakeQuantize(bits)
        self.quantize_weight = LearnableFakeQuantize(bits)
        self.lora = QuantizedLoRA(inputs, outputs, rank, alpha, bits)

    def forward(self, x):
        inputs = self.quantize_input(x)
        weight = self.quantize_weight(self.weight)
        flat = torch.addmm(self.bias, inputs.view(-1, inputs.size(-1)), weight)
        return flat.view(*x.shape[:-1], -1) + self.lora(x)
