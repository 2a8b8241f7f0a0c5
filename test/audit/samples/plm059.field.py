from dataclasses import dataclass, field
from typing import Optional

import transformers
from trl import SFTConfig


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    fsdp: str = field(default="full_shard")  # expect: PLM059


@dataclass
class Tuned(SFTConfig):
    fsdp: str = "full_shard offload"  # expect: PLM059


@dataclass
class Plain(transformers.TrainingArguments):
    # trap: nothing is sharded unless someone asks
    fsdp: str = field(default="")


@dataclass
class ModelArguments:
    # trap: no arguments of a training
    fsdp: str = field(default="full_shard")


class Net(transformers.PretrainedConfig):
    # trap: nor these
    fsdp = "full_shard"
