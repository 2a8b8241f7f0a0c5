import torch
from torch.nn.utils.rnn import pad_sequence

torch.backends.cudnn.benchmark = True  # expect: PLM064
# trap: off
torch.backends.cudnn.benchmark = False
# trap: another switch
torch.backends.cudnn.deterministic = True


def collate(rows):
    return pad_sequence(rows)
