import numpy as np
import torch

device = torch.device("cuda")


def make(n, given):
    noise = np.random.randn(n, 4)
    a = torch.from_numpy(noise).to(device)  # expect: PLM043
    b = torch.tensor(np.linspace(0, 1, n), device=device)  # expect: PLM043
    # trap: single precision
    c = torch.from_numpy(np.zeros(n, dtype=np.float32)).to(device)
    # trap: said here
    d = torch.tensor(noise, dtype=torch.float32, device=device)
    # trap: nobody knows its type
    e = torch.from_numpy(given).to(device)
    # trap: stays on the host
    f = torch.from_numpy(noise)
    return a, b, c, d, e, f
