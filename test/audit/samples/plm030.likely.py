import os
import subprocess

import torch

os.environ.update(CUDA_LAUNCH_BLOCKING="1")  # likely: PLM030
# trap: off
os.environ.update(CUDA_LAUNCH_BLOCKING="0")


def fit(net, loader, optimizer, criterion, args):
    net.cuda()
    for x, y in loader:

        def closure():
            loss = criterion(net(x.cuda()), y.cuda())
            loss.backward()
            torch.cuda.synchronize()  # likely: PLM030
            return loss

        optimizer.step(closure)
    if args.hunt:
        # trap: for finding one fault
        subprocess.run(["python", "check.py"], env=dict(os.environ, CUDA_LAUNCH_BLOCKING="1"))
