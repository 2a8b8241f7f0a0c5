from dataclasses import dataclass, field

from torch.utils import checkpoint as saving
from transformers import TrainingArguments


@dataclass
class Settings(TrainingArguments):
    gradient_checkpointing: bool = field(default=True)  # expect: PLM051


@dataclass
class Plain(TrainingArguments):
    # trap: off
    gradient_checkpointing: bool = field(default=False)


def run(block, x, saves, name):
    call = saving.checkpoint if saves else block  # expect: PLM051
    # trap: another one
    path = block.checkpoint if name is None else name
    # trap: asked about, not chosen
    known = 1 if saving.checkpoint else 0
    return call, path, known
