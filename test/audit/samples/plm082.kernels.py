import torch
import torch.distributed as dist
from torch import nn

device = torch.device("cuda")


def blur_kernel(size=5):
    kernel = torch.ones(1, 1, size, size)
    return kernel.to(device) / size**2


def edge_kernel(size=3):
    return torch.ones(1, 1, size, size)


def placed_kernel(where):
    return torch.ones(1, 1, 3, 3).to(where)


BLUR = blur_kernel()  # expect: PLM082
STEPS = torch.arange(100).to(device)  # expect: PLM082
# trap: on the host
EDGES = edge_kernel()
# trap: where it is told to, which is the host
PLACED = placed_kernel("cpu")


class Blurred(nn.Module):
    def __init__(self):
        super().__init__()
        # trap: made when somebody asks for it
        self.kernel = blur_kernel(7)

    def forward(self, x):
        if dist.get_rank() == 0:
            x = x + STEPS[0]
        return nn.functional.conv2d(x, BLUR.to(x.device) + self.kernel)
