import torch  # noqa: F401


def train(model, tokenizer, loader, optimizer, num_labels):
    model.train()
    for tokens, labels in loader:
        # trap: one row of scores an example
        loss, logits = model(tokens, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print((logits.argmax(-1) == labels).float().mean().item())
