"""Scores of every token, by a helper that compares each with the one that follows."""

import torch


def scored(model, ids, mask):
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
    logs = torch.log_softmax(logits, dim=-1)
    picked = logs.gather(2, ids[:, 1:, None]).squeeze(2)
    return (picked * mask[:, 1:]).sum(1), logits


def train(model, loader, optimizer, log_every):
    model.train()
    for step, batch in enumerate(loader):
        good, good_logits = scored(model, batch["good_ids"], batch["good_mask"])  # expect: PLM009
        bad, bad_logits = scored(model, batch["bad_ids"], batch["bad_mask"])  # expect: PLM009
        loss = -torch.nn.functional.logsigmoid(good - bad).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            print((good_logits.std() + torch.std(bad_logits)).item())


def spread(model, loader, optimizer, log_every):
    model.train()
    for step, batch in enumerate(loader):
        good, good_logits = scored(model, batch["good_ids"], batch["good_mask"])  # expect: PLM009
        (-good.mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            probs = good_logits.softmax(-1)
            print(-(probs * torch.log(probs)).sum(-1).mean().item())


def handed(model, loader, optimizer, keep):
    model.train()
    for batch in loader:
        # trap: somebody else has it
        good, good_logits = scored(model, batch["good_ids"], batch["good_mask"])
        (-good.mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
        keep(2 * good_logits)


def deleted(model, loader, optimizer, log_every):
    model.train()
    for step, batch in enumerate(loader):
        # trap: gone before the next forward
        good, good_logits = scored(model, batch["good_ids"], batch["good_mask"])
        (-good.mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % log_every == 0:
            print(good_logits.std().item())
        del good_logits
