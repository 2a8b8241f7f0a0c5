"""The same question, of a program whose settings do name such a part."""

from peft import LoraConfig, get_peft_model
from transformers import AutoModel, Trainer, TrainingArguments

SETTINGS = {"r": 16, "modules_to_save": ["embeddings"]}


def filled(model):
    return [name for name, p in model.named_parameters() if "modules_to_save" in name and p.numel() > 0]


def train(path, data):
    model = get_peft_model(AutoModel.from_pretrained(path), LoraConfig(**SETTINGS))
    # trap: the embeddings are trained as well
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    print(filled(model))
    Trainer(model, TrainingArguments("out"), train_dataset=data).train()
