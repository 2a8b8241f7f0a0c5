import torch

device = torch.device("cuda")


def copied(model, optimizer, other):
    weights, host, state, mixed = {}, {}, {}, {}
    for key, value in model.state_dict().items():
        weights[key] = value.detach().clone()  # expect: PLM015
    for key, value in model.state_dict().items():
        # trap: on the host
        host[key] = value.cpu().clone()
    for key, value in optimizer.state_dict().items():
        # trap: an optimizer's
        state[key] = value.clone()
    for key, value in model.state_dict().items():
        # trap: another's
        mixed[key] = other[key].clone()
    return weights, host, state, mixed
