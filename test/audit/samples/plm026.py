import torch
import torch.nn.functional as F
from tqdm import tqdm

device = torch.device("cuda")


def train(model, loader, optimizer):
    bar = tqdm(loader)
    for step, (x, y) in enumerate(bar):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        print(loss)  # expect: PLM026
        print(f"step {step}: {loss:.4f}")  # expect: PLM026
        bar.set_postfix(loss=loss)  # expect: PLM026
        # trap: no tensor
        print(step, loss.shape, f"{step}")
        if step % 50 == 0:
            # trap: now and then
            print(f"{loss:.3f}")
        if not y.shape:
            # trap: only when it fails
            raise ValueError(f"bad {loss}")
    # trap: once
    print(loss)


def asked(model, loader, optimizer, every):
    for step, x in enumerate(loader):
        loss = model(x.cuda()).sum()
        loss.backward()
        if step % every == 0:
            optimizer.step()
            loss = loss.item()
        if not isinstance(loss, float):
            shown = loss.item()
        else:
            shown = loss
        # trap: a number in both branches
        print(f"{shown / (step + 1):.3f}")
