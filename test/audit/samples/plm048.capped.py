import torch
from torch.nn.functional import cross_entropy


def train(model, loader, optimizer, vocab_size, cap=50.0):
    for ids in loader:
        logits = model(ids).logits
        capped = 30.0 * torch.tanh(logits / 30.0)  # expect: PLM048
        second = model(ids).logits
        softer = cap * torch.tanh(second / cap)  # expect: PLM048
        other = model(ids).logits
        other = 30.0 * torch.tanh(other / 30.0)  # likely: PLM048
        # trap: its name is given away, so that nothing holds it
        other = other / 30.0
        third = model(ids).logits
        # trap: read again
        bounded = (third / 30.0).tanh() * 30.0
        fourth = model(ids).logits
        # trap: a number, nothing as large
        mean = torch.logsumexp(fourth / 30.0, -1).mean()
        loss = cross_entropy(capped.view(-1, vocab_size), ids.view(-1)) + mean + softer.mean()
        loss = loss + cross_entropy((other + bounded).view(-1, vocab_size), ids.view(-1)) + third.square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
