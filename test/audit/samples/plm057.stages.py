from dataclasses import dataclass, field

from deepspeed import zero
from transformers import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    # trap: stepped by another library, in shards of its own
    optim: str = field(default="adamw_torch")


def gathered(parameters):
    return zero.GatheredParameters(parameters)
