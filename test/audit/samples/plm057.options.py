import argparse
from dataclasses import dataclass, field

from transformers import TrainingArguments


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--optim", type=str, default="adamw_torch")  # expect: PLM057
    # trap: the fused one
    parser.add_argument("--other_optim", default="adamw_torch_fused")
    # trap: only one of those to choose from
    parser.add_argument("--small", default="paged_adamw_32bit", choices=["adamw_torch", "paged_adamw_32bit"])
    return parser.parse_args()


@dataclass
class Arguments(TrainingArguments):
    optim: str = field(default="adamw_torch")  # expect: PLM057


@dataclass
class Paged:
    # trap: another
    optim: str = "paged_adamw_32bit"


optim = "adamw_torch"
arguments = TrainingArguments("out", optim=optim)  # expect: PLM057
settings = {"optim": "adamw_hf", "bf16": True}  # expect: PLM057
more = TrainingArguments(**settings)
