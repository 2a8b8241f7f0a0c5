import torch
from torch import nn


class GreedySearcher(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.decoder = decoder.cuda()

    @torch.no_grad()
    def forward(self, states):
        tokens = torch.zeros(states.shape[0], dtype=torch.long, device="cuda")
        ended = torch.zeros_like(tokens, dtype=torch.bool)
        for _ in range(100):
            tokens = self.decoder(tokens, states).argmax(-1)
            ended = ended | (tokens == 2)
            # trap: a search decodes; no step of training runs it
            if ended.all():
                break
        return tokens
