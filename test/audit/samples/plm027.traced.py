import torch
import torch.nn as nn


class Embedder(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.embed = nn.Embedding(8, 8).cuda()
        self.onnx_trace = False
        self.pad = pad

    def forward(self, tokens):
        out = self.embed(tokens.cuda())
        empty = out.sum(-1).eq(self.pad)
        if self.onnx_trace:
            # trap: when it is exported
            if empty.any():
                out = torch.where(empty.unsqueeze(-1), out.new_zeros(1), out)
        else:
            if empty.any():  # expect: PLM027
                out[empty] = 0
        return out
