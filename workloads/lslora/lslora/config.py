from dataclasses import dataclass, field
from enum import Enum

from peft import LoraConfig


class LSLoraType(str, Enum):
    """PEFT's own types are a closed enumeration; its tables take any string that is one of their keys."""

    LSLORA = "LSLORA"


@dataclass
class LSLoraConfig(LoraConfig):
    """LoRA's settings, and the curve's.

    With `squash=False` x is z / σ itself, unbounded; at σ = 1 and identity coefficients that is LoRA to the bit.
    """

    sigma: float = field(default=1.0, metadata={"help": "the curve's width at the start"})
    squash: bool = field(default=True, metadata={"help": "x = tanh(z / σ), or z / σ"})

    def __post_init__(self):
        super().__post_init__()
        self.peft_type = LSLoraType.LSLORA
        if self.use_dora:
            raise ValueError("DoRA changes the same bottleneck: LSLoraConfig does not take use_dora")
        if self.sigma <= 0:
            raise ValueError(f"sigma must be positive, not {self.sigma}")
