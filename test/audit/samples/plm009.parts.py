"""Scoring in parts, without recording, before the updates."""

import torch
import torch.nn.functional as F

from helpers import forward, reward_of, selective_log_softmax


@torch.no_grad()
def score(policy, reference, judge, ids, size, start, heat):
    before, rewards = [], []
    for i in range(0, ids.shape[0], size):
        part = ids[i : i + size]
        if reference is None:
            out = forward(policy, part)
        else:
            out = forward(reference, part)
        logits = out.logits[:, start - 1 : -1]  # expect: PLM009
        logits /= heat + 1e-7
        before.append(selective_log_softmax(logits, part[:, start:]))
        rewards.append(reward_of(judge, part))
    return torch.cat(before), torch.cat(rewards)


@torch.no_grad()
def score_split(reference, judge, input_ids, size):
    before, rewards = [], []
    for part in input_ids.split(size):
        scores = reference(part).logits[:, :-1]  # expect: PLM009
        before.append(F.log_softmax(scores, dim=-1).gather(-1, part[:, 1:, None]))
        rewards.append(reward_of(judge, part))
    return torch.cat(before), torch.cat(rewards)


@torch.no_grad()
def score_dropping(reference, judge, ids, size, start):
    before, rewards = [], []
    for i in range(0, ids.shape[0], size):
        part = ids[i : i + size]
        out = forward(reference, part)
        logits = out.logits[:, start - 1 : -1]
        before.append(selective_log_softmax(logits, part[:, start:]))
        # trap: gone before anything else is run
        del out, logits
        rewards.append(reward_of(judge, part))
    return torch.cat(before), torch.cat(rewards)


@torch.no_grad()
def score_whole(reference, ids, size, start):
    before = []
    out = forward(reference, ids)
    for i in range(0, ids.shape[0], size):
        # trap: a view of what is there for all parts
        logits = out.logits[i : i + size, start - 1 : -1]
        before.append(selective_log_softmax(logits, ids[i : i + size, start:]))
    return torch.cat(before)


@torch.no_grad()
def score_keeping(reference, ids, size, start):
    before, kept = [], []
    for i in range(0, ids.shape[0], size):
        part = ids[i : i + size]
        out = forward(reference, part)
        logits = out.logits[:, start - 1 : -1]
        before.append(selective_log_softmax(logits, part[:, start:]))
        # trap: wanted by the caller
        kept.append(logits)
    return torch.cat(before), kept


@torch.no_grad()
def score_with_values(reference, ids, size, start):
    before, states = [], []
    for i in range(0, ids.shape[0], size):
        part = ids[i : i + size]
        out = forward(reference, part)
        logits = out.logits[:, start - 1 : -1]
        before.append(selective_log_softmax(logits, part[:, start:]))
        # trap: asked for another part below
        states.append(out.hidden_states[-1].mean(1))
    return torch.cat(before), torch.cat(states)
