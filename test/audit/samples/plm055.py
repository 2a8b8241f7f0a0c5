from transformers import Trainer, TrainingArguments


def train(model, data, metrics, options):
    args = TrainingArguments("out", eval_strategy="epoch")  # expect: PLM055
    # trap: moved away as it goes
    moved = TrainingArguments("out", eval_strategy="epoch", eval_accumulation_steps=8)
    # trap: no evaluation
    none = TrainingArguments("out", eval_strategy="no")
    # trap: may be in the options
    other = TrainingArguments("out", eval_strategy="epoch", **options)
    return Trainer(model, args, eval_dataset=data, compute_metrics=metrics), moved, none, other
