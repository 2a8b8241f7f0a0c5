from transformers import Trainer, TrainingArguments


def train(model, data):
    # trap: no metrics, so only the loss is kept
    return Trainer(model, TrainingArguments("out", eval_strategy="epoch"), eval_dataset=data)
