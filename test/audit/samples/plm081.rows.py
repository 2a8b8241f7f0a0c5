import torch


def picked(logits, labels):
    rows = [row.log_softmax(-1).gather(-1, label.unsqueeze(-1)) for row, label in zip(logits, labels)]
    return torch.stack(rows).squeeze(-1)


def masked(logits, labels):
    for row, label in zip(logits, labels):
        row[label == 0] = 0
    return logits.logsumexp(-1)


def centred(logits):
    for row in logits:
        row -= row.mean()
    return logits.logsumexp(-1)


def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        ids = batch["input_ids"].cuda()
        outputs = model(input_ids=ids)
        ahead = outputs.logits[..., :-1, :].clone()  # expect: PLM081
        loss = -picked(ahead, ids[..., 1:]).mean()
        # trap: its rows are written into
        changed = outputs.logits[..., :-1, :].clone()
        loss = loss + masked(changed, ids[..., 1:]).mean()
        # trap: the same, in place
        shifted = outputs.logits[..., :-1, :].clone()
        loss = loss + centred(shifted).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
