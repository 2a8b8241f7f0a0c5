import torch
import torch.distributed as dist

from objectives import compare


def fit(policy, loader, optimizer):
    policy.cuda()
    for batch in loader:
        losses, liked, disliked, flat, other = compare(policy, batch)
        like, loss = liked.mean(), losses.mean()
        dislike = disliked.mean()
        spread = disliked.sum()
        dist.all_reduce(dislike)
        dist.all_reduce(spread)  # expect: PLM071
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return like


def share(policy, loader, optimizer):
    policy.cuda()
    for batch in loader:
        losses, flat, other = compare(policy, batch)
        losses.mean().backward()
        # trap: who knows how large they are
        dist.all_reduce(flat)
        dist.all_reduce(other)
        optimizer.step()
        optimizer.zero_grad()
