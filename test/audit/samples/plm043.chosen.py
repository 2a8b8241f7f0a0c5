import numpy as np
import torch
from elsewhere import DEVICE, init, utils


def given(cfg, loader, model, optimizer):
    ddp, rank, device = init(cfg)
    own = utils.get_device(cfg.device)
    local_rank = init(launcher="torchrun")
    host = "cpu"
    scale = torch.from_numpy(np.linspace(0.0, 1.0, 64)).to(device)  # expect: PLM043
    shift = torch.from_numpy(np.linspace(0.0, 1.0, 64)).to(own)  # expect: PLM043
    third = torch.from_numpy(np.linspace(0.0, 1.0, 64)).to(local_rank)  # expect: PLM043
    fourth = torch.from_numpy(np.linspace(0.0, 1.0, 64)).to(DEVICE)  # expect: PLM043
    # trap: it stays on the host
    fifth = torch.from_numpy(np.linspace(0.0, 1.0, 64)).to(host)
    for x in loader:
        loss = model(x.cuda()).mean() * scale.mean() + shift.mean() + third.mean() + fourth.mean()
        loss.backward()
        optimizer.step()
    return ddp, rank, fifth


def roots(device):
    table = torch.as_tensor(np.sqrt(np.arange(1, 33))).to(device)  # expect: PLM043
    # trap: said
    small = torch.as_tensor(np.sqrt(np.arange(1, 33, dtype=np.float32))).to(device)
    return table, small
