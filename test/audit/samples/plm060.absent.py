import torch
from torch import nn

model = build()
if torch.cuda.is_available():
    model = nn.DataParallel(model).cuda()  # expect: PLM060
else:
    # trap: without a device it passes the call on
    model = nn.DataParallel(model)
