import torch
from torch.nn.utils.rnn import pad_sequence


def main(cfg):
    if cfg.get("cudnn_benchmark", False):
        # Whoever asks for it would get the opposite.
        torch.backends.cudnn.benchmark = True  # expect: PLM064, by hand
    if torch.cuda.is_available():
        torch.backends.cudnn.benchmark = True  # expect: PLM064
    # trap: off
    torch.backends.cudnn.benchmark = False


def collate(rows):
    return pad_sequence(rows)
