import torch
import torch.nn.functional as F


def fit(net, loader, optimizer, names):
    net.to("cuda")
    shown = {}
    for images, wanted in loader:
        scores = net(images.to("cuda"))
        each = F.cross_entropy(scores, wanted.to("cuda"), reduction="none")
        loss = each.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = {name: each[i].item() for i, name in enumerate(names)}  # expect: PLM029
        parts = {"mean": loss, "most": each.max()}
        told = {name: parts[name].item() for name in parts}  # expect: PLM029
        for i in range(4):
            shown[i] = each[i].item()  # expect: PLM029
        # trap: brought back at once, and read there
        back = each.detach().cpu()
        shown = {name: back[i].item() for i, name in enumerate(names)}
        # trap: a list of Python's
        shown = {name: names[i].item() for i, name in enumerate(names)}
    return shown, told
