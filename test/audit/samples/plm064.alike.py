from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

# trap: whoever makes the collator wants all batches of one length
torch.backends.cudnn.benchmark = True


@dataclass
class SpeechCollator:
    processor: Any
    padding: bool | str = True

    def __call__(self, examples):
        return self.processor.pad(examples, padding=self.padding, max_length=16000, return_tensors="pt")


def collator(processor):
    return SpeechCollator(processor, padding="max_length")


class Stem(nn.Module):
    def __init__(self, width, padding=1):
        super().__init__()
        # trap: the padding of a convolution
        self.conv = nn.Conv1d(1, width, 3, padding=padding)
