from dataclasses import dataclass, field

import transformers


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    ddp_find_unused_parameters: bool = field(default=True)  # expect: PLM058


@dataclass
class Quiet(transformers.TrainingArguments):
    # trap: not asked for
    ddp_find_unused_parameters: bool = field(default=False)


@dataclass
class Other:
    # trap: nobody reads it
    ddp_find_unused_parameters: bool = True
