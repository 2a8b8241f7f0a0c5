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


def filled(n, given, kept):
    a = torch.from_numpy(np.full((n, 1), 0.5)).to(device)  # expect: PLM043
    # trap: whole numbers
    b = torch.from_numpy(np.full((n, 1), -1)).to(device)
    # trap: single precision
    c = torch.from_numpy(np.full((n, 1), 0.5, dtype=np.float32)).to(device)
    d = torch.from_numpy(np.full((n, 1), 0.5, np.float32)).to(device)
    # trap: nobody knows with what
    e = torch.from_numpy(np.full((n, 1), given)).to(device)
    rows = []
    for one in range(n):
        rows.append(np.zeros(n))
        rows.append(kept[one])
    # nobody knows the type of what is kept
    f = torch.from_numpy(np.array(rows)).to(device)  # likely: PLM043
    # trap: rows of single precision
    g = torch.from_numpy(np.stack([np.zeros(n).astype(np.float32) for _ in range(n)])).to(device)
    return a, b, c, d, e, f, g
