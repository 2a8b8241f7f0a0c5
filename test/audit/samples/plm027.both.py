import torch


def apply_in_parts(model, mix):
    weight = torch.zeros(8, device="cuda")
    weight += model(mix)
    # trap: only called when evaluating
    assert weight.min() > 0
    return weight


def run_epoch(model, loader, optimizer, options, train=True):
    for mix in loader:
        if not train and options.split:
            out = apply_in_parts(model, mix)
        else:
            out = model(mix.cuda())
        if out.sum() > 0:  # expect: PLM027
            print("positive")
        if train:
            out.sum().backward()
            optimizer.step()
