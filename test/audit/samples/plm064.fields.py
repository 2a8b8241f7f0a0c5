from dataclasses import dataclass
from typing import Any

import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


@dataclass
class SpeechCollator:
    processor: Any
    padding: bool | str = "longest"

    def __call__(self, examples):
        return self.processor.pad(examples, padding=self.padding, return_tensors="pt")
