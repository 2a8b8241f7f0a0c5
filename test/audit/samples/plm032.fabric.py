import torch


def train(fabric, model, optimizer, loader):
    for batch in loader:
        loss = model(batch).mean()
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0, error_if_nonfinite=True)  # expect: PLM032
        # trap: does not look
        fabric.clip_gradients(model, optimizer, max_norm=1.0, error_if_nonfinite=False)
        optimizer.step()
        optimizer.zero_grad()
