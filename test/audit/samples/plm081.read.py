"""Parts of an output that are copied, though the copy is all that is ever read."""

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM


def pairs(ids, device):
    model = AutoModelForCausalLM.from_pretrained("some/model", dtype="auto").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    model.train()
    for batch in ids:
        outputs = model(batch["ids"], attention_mask=batch["mask"])
        scores = outputs.logits.clone()  # expect: PLM081
        half = scores.shape[0] // 2
        better, worse = scores[:half], scores[half:]
        loss = F.softplus(worse.logsumexp(-1).mean() - better.logsumexp(-1).mean()) + outputs.aux_loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def keyed(ids, device):
    model = AutoModelForCausalLM.from_pretrained("some/model", dtype="auto").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    model.train()
    for batch in ids:
        outputs = model(batch["ids"])
        logits = outputs["logits"]
        kept = logits.clone()  # expect: PLM081
        first = model(batch["other"]).logits.clone()  # expect: PLM081
        pieces = [kept[:, :-1], first[:, :-1]]
        torch.cat(pieces).logsumexp(-1).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def halves(ids, device):
    model = AutoModelForCausalLM.from_pretrained("some/model", dtype="auto").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    model.train()
    for batch in ids:
        outputs = model(batch["ids"])
        copied = outputs.logits.clone()  # expect: PLM081
        loss = F.mse_loss(copied[:4], outputs.logits[4:]) + copied[0].exp().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def written(ids, device):
    model = AutoModelForCausalLM.from_pretrained("some/model", dtype="auto").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    model.train()
    for batch in ids:
        outputs = model(batch["ids"], output_hidden_states=True)
        # trap: written into, beside a loss that was computed from the original
        masked = outputs.logits.clone()
        masked[:, :, 0] = float("-inf")
        # trap: the last of `hidden_states` is the same tensor, and a function may write into the copy
        last = outputs.last_hidden_state.clone()
        whiten(last)
        states = outputs.hidden_states
        # trap: the whole is handed on, and what gets it may write into its part
        other = model(batch["other"])
        scores = other.logits.clone()
        temper(other)
        halves = [scores[:2], scores[2:]]
        loss = masked.logsumexp(-1).mean() + states[-1].mean() + last.mean() + torch.cat(halves).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def whiten(states):
    states -= states.mean()


def temper(outputs):
    outputs.logits /= 2
