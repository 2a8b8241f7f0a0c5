import torch
import torchaudio.functional as audio
from torch import nn


def turns(width, length):
    rates = torch.arange(0, width, 2).float() / width
    places = torch.arange(length, device=rates.device)
    angles = torch.outer(places, rates)
    return torch.polar(torch.ones_like(angles), angles)


def beside(like, length):
    places = torch.arange(length, device=like.device)
    return torch.outer(places, torch.ones_like(like))


class Reader(nn.Module):
    def __init__(self, words, width, length, like, device):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.turned = turns(width, length)
        self.beside = beside(like, length)
        self.basis = audio.create_dct(20, width, "ortho")
        self.bank = audio.melscale_fbanks(201, 0.0, 8000.0, width, 16000).to(device)

    def init_weights(self):
        self.turned = turns(64, 512)

    def forward(self, words):
        hidden = self.embed(words)
        turned = self.turned[: words.shape[1]].to(hidden.device)  # expect: PLM042
        basis = self.basis.to(hidden.device)  # expect: PLM042
        # trap: made where another tensor is
        near = self.beside.to(hidden.device)
        # trap: sent where it was told to be
        bank = self.bank.to(hidden.device)
        return hidden @ basis, turned, near, bank
