"""LoRA with a learned Fourier non-linearity on the bottleneck, as a PEFT method of its own.

    from peft import get_peft_model
    from lslora import IdentityPenalty, LSLoraConfig

    model = get_peft_model(base, LSLoraConfig(r=16, target_modules="all-linear"))
    penalty = IdentityPenalty(model)
    loss = model(**batch).loss + 0.01 * penalty()
"""
from .config import LSLoraConfig
from .diagnostics import describe
from .layer import IDENTITY, FourierLinear
from .model import LSLoraModel
from .penalty import IdentityPenalty

__all__ = ["IDENTITY", "FourierLinear", "IdentityPenalty", "LSLoraConfig", "LSLoraModel", "describe"]
