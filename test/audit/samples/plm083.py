import time

import torch

device = torch.device("cuda")


def measure(model, x):
    model.eval()
    start = time.perf_counter()
    model(x)
    print(time.perf_counter() - start)  # expect: PLM083
    first = time.time()
    model(x)
    # trap: waited for
    torch.cuda.synchronize()
    second = time.time()
    third = time.time()
    read = model(x).sum().item()
    # trap: reading waits
    print(time.time() - third)
    begin = time.time()
    rows = sorted(range(10))
    # trap: no device work
    print(time.time() - begin, rows)
    return second - first, read
