"""Asked for, or switched off: no run waits for it unless somebody wants that."""

import os
import sys

import torch

if __name__ == "__main__":
    os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
    if "--debug" in sys.argv:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    torch.manual_seed(0)
