import torch
from torch import nn

model = build()
if torch.cuda.is_available():
    model = nn.DataParallel(model).cuda()  # expect: PLM060
else:
    # trap: without a device it passes the call on
    model = nn.DataParallel(model)

bare = build()
# trap: unwrapped at once, it never runs
bare = nn.DataParallel(bare)
bare = bare.module
print(bare(torch.zeros(2, 3)))

# trap: there is next to nothing to copy
transform = nn.DataParallel(FastTransform()).cuda()
print(transform(torch.zeros(2, 3)))
