import torch


def train(model, loader, optimizer, kept):
    for batch, marks in loader:
        scores = model(batch.cuda())
        wrong = torch.bitwise_and(scores > 0, scores < 1)[0]
        if not wrong.any():  # expect: PLM027
            continue
        if torch.count_nonzero(scores) == 0:  # expect: PLM027
            continue
        if torch.less(scores, 0).all():  # expect: PLM027
            continue
        # trap: of what never left the host
        known = torch.isin(marks, kept)
        if not torch.bitwise_and(known, marks > 0).any():
            continue
        scores.mean().backward()
        optimizer.step()
        optimizer.zero_grad()
