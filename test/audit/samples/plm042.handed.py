import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, heads, side, device=None):
        super().__init__()
        places = torch.arange(side * side, device=device)
        apart = (places[:, None] - places[None, :]).abs()
        self.biases = nn.Parameter(torch.zeros(heads, side * side))
        self.apart = apart
        self.register_buffer("beside", apart + 1)

    def biases_on(self, device):
        if torch.jit.is_tracing() or self.training:
            return self.biases[:, self.apart.to(device)]  # expect: PLM042
        else:
            # trap: a training never comes here
            return self.biases[:, self.apart.to(device)]

    def beside_on(self, device):
        # trap: a buffer is there already
        return self.biases[:, self.beside.to(device)]

    def forward(self, q, k, v):
        scores = q @ k.transpose(-2, -1) + self.biases_on(q.device) + self.beside_on(q.device)
        return scores.softmax(dim=-1) @ v


def train(loader, optimizer):
    attention = Attention(8, 14).cuda()
    for x in loader:
        x = x.cuda(non_blocking=True)
        loss = attention(x, x, x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
