import functools

import torch

clip = functools.partial(torch.nn.utils.clip_grad_norm_, error_if_nonfinite=True)  # expect: PLM032
# trap: called where nothing is trained
check = functools.partial(torch.nn.utils.clip_grad_norm_, error_if_nonfinite=True)
# trap: does not look
calm = functools.partial(torch.nn.utils.clip_grad_norm_, error_if_nonfinite=False)


def train(model, loader, optimizer):
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        clip(model.parameters(), 1.0)
        calm(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    check(model.parameters(), 1.0)
