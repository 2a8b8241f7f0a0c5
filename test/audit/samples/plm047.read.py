import torch  # noqa: F401


def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        # trap: read
        out = model(batch, output_hidden_states=True)
        (out.loss + out.hidden_states[-1].mean()).backward()
        optimizer.step()
