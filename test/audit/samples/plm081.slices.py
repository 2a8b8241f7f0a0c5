"""Copies of which a part is read."""

import torch.nn.functional as F


def train(net, loader, optimizer):
    net = net.cuda()
    for tokens in loader:
        tokens = tokens.cuda()
        out = net(input_ids=tokens, return_dict=True)
        logits = out["logits"] if isinstance(out, dict) else out[0]
        scores = logits.clone()[..., :-1, :].contiguous()  # expect: PLM081
        loss = F.cross_entropy(scores.view(-1, scores.size(-1)), tokens[:, 1:].reshape(-1))
        again = net(input_ids=tokens)["logits"]
        # trap: the part is written into
        ends = again.clone()[:, -1]
        ends[:, 0] = 0
        # trap: one of the two was never made by a network
        other = tokens if tokens.dim() > 2 else again
        kept = other.clone()[:, 1:]  # likely: PLM081
        loss = loss + again.mean() + ends.mean() + kept.float().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
