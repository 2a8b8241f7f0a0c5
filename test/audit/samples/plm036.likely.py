import torch
import torch.nn as nn


class Attended(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, 4)
        self.table = nn.Embedding(16, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        self.attend = self.attend.to(x.device)  # expect: PLM036
        # trap: looked up, and not moved
        x = x + self.table(x.argmax(-1)).to(x.device)
        # trap: what came out of it is moved
        return self.attend(x, x, self.gate(x).to(x.device))[0]


class GroupNorm32(nn.GroupNorm):
    def forward(self, x):
        return nn.functional.group_norm(
            x,
            self.num_groups,
            self.weight.to(x.dtype),  # likely: PLM036
            self.bias.to(x.dtype),  # likely: PLM036
            self.eps,
        )


class LayerNorm32(nn.LayerNorm):
    def forward(self, x):
        # trap: what is computed is cast, not what learns
        return super().forward(x.float()).type(x.dtype)


class Tied(nn.Embedding):
    def forward(self, x, transposed=False, return_weight=False):
        if transposed:
            weight = self.weight.to(torch.float16)  # likely: PLM036
            return torch.matmul(x.half(), weight.transpose(0, 1)).float()
        if return_weight:
            # trap: for whoever asks to see it
            return self.weight.to(torch.float16)
        if x.numel() == 0:
            # trap: an empty batch is rare
            return x.float() @ self.weight.to(torch.float16)
        return super().forward(x)


class Heated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.log_heat = torch.tensor(0.1)
        self.log_heat.requires_grad = True
        self.fixed = torch.tensor(0.1)

    def heat(self):
        return self.log_heat.to(self.norm.weight.device).exp()  # likely: PLM036

    def least(self):
        # trap: it does not learn
        return self.fixed.to(self.norm.weight.device).exp()

    def load_heat(self, device):
        # trap: once
        return self.log_heat.to(device)
