import torch
import torch.nn as nn
import torch.nn.functional as F


class Summaries:
    def forward(self, input_ids, labels):
        hidden = self.model(input_ids.long())
        logits = self.lm_head(hidden).float()  # expect: PLM046
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


class Summing(Summaries, nn.Module):
    def __init__(self, width, vocab_size):
        super().__init__()
        self.model = nn.Embedding(vocab_size, width)
        self.lm_head = nn.Linear(width, vocab_size, bias=False)


class Judged:
    def forward(self, input_ids, labels):
        # trap: mixed into nothing that learns
        logits = self.lm_head(self.model(input_ids.long())).float()
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


class Judge(Judged, dict):
    pass


def train(loader):
    net = Summing(64, 50257).to("cuda", torch.bfloat16)
    opt = torch.optim.AdamW(net.parameters(), fused=True)
    for ids, labels in loader:
        net(ids.cuda(), labels.cuda()).backward()
        opt.step()
        opt.zero_grad()
