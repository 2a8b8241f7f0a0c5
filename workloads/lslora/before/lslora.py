"""LS-LoRA: low-rank adapters with a learned Fourier non-linearity on the bottleneck."""
import math
import os

import torch
import torch.nn as nn


class FourierParams(nn.Module):
    def __init__(self, sigma=1.0):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.0, 1.0, 0.0, 0.0]))
        self.sigma = nn.Parameter(torch.tensor([sigma]))


class LSLoraLayer(nn.Module):
    def __init__(self, base_layer, adapter_name, rank, alpha):
        super().__init__()
        self.base_layer = base_layer
        self.active_adapter = adapter_name
        self.scaling = alpha / rank
        self.lora_A = nn.ModuleDict({adapter_name: nn.Linear(base_layer.in_features, rank, bias=False)})
        self.lora_B = nn.ModuleDict({adapter_name: nn.Linear(rank, base_layer.out_features, bias=False)})
        self.fourier_params = nn.ModuleDict({adapter_name: FourierParams()})
        nn.init.zeros_(self.lora_B[adapter_name].weight)

    def apply_fourier(self, z: torch.Tensor, adapter_name: str) -> torch.Tensor:
        params = self.fourier_params[adapter_name]
        coeffs = params.weight.to(z.device)
        sigma = params.sigma.to(z.device)
        sigma_safe = torch.abs(sigma) + 1e-6
        x = torch.tanh(z / sigma_safe)
        a0, a1, a2, a3 = coeffs[0], coeffs[1], coeffs[2], coeffs[3]
        return a0 + a1 * x + a2 * torch.sin(math.pi * x) + a3 * torch.cos(math.pi * x)

    def forward(self, x):
        name = self.active_adapter
        result = self.base_layer(x)
        dtype = result.dtype
        x = x.to(self.lora_A[name].weight.dtype)
        z = self.apply_fourier(self.lora_A[name](x), name)
        return (result + self.lora_B[name](z) * self.scaling).to(dtype)


class LSLoraModel(nn.Module):
    def __init__(self, model, targets, rank, alpha, adapter_name="default"):
        super().__init__()
        self.model = model
        for parameter in model.parameters():
            parameter.requires_grad = False
        for parent in list(model.modules()):
            for name, child in list(parent.named_children()):
                if name in targets:
                    layer = LSLoraLayer(child, adapter_name, rank, alpha)
                    setattr(parent, name, layer)

    def get_fourier_loss(self):
        total_loss = 0.0
        count = 0
        identity = torch.tensor([0.0, 1.0, 0.0, 0.0])
        for module in self.modules():
            if isinstance(module, LSLoraLayer):
                for adapter_name, params in module.fourier_params.items():
                    coeffs = params.weight
                    target = identity.to(coeffs.device)
                    loss = torch.mean((coeffs - target) ** 2)
                    total_loss += loss
                    count += 1
        return total_loss / count

    def forward(self, *args, **kwargs):
        return self.model(*args, **kwargs)

    def save_pretrained(self, folder):
        os.makedirs(folder, exist_ok=True)
        adapter = {k: v for k, v in self.state_dict().items() if "lora_" in k or "fourier_params" in k}
        torch.save(adapter, os.path.join(folder, "adapter_model.bin"))
