import torch

# trap: one shape, as far as anyone can see
torch.backends.cudnn.benchmark = True
