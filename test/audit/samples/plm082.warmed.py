import torch
from accelerate import Accelerator

torch.zeros(1).cuda()  # expect: PLM082

accelerator = Accelerator()

# trap: the accelerator has chosen the device of this rank
torch.ones(1).cuda()
weights = torch.ones(10).cuda()


def warm():
    # trap: called when there is something to do
    torch.zeros(1).cuda()
