import torch


def train(model, optimizer, vocab_size, device):
    for _ in range(10):
        tokens = torch.randint(0, vocab_size, (8, 512), device=device)
        logits = model(tokens)  # expect: PLM009
        loss = logits.sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def figures(model, loader, optimizer, criterion):
    for tokens, labels in loader:
        scores = model(tokens)
        # trap: a number that nothing is differentiated by, of one row an example
        spread = scores.std().item()
        print(spread)
        loss = model.penalty()
        loss.backward()
        optimizer.step()
