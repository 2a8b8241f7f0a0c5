from dataclasses import dataclass, field

import transformers


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    # trap: the class of the layers is said beside it
    fsdp: str = field(default="full_shard")
    fsdp_transformer_layer_cls_to_wrap: str = field(default="LlamaDecoderLayer")
