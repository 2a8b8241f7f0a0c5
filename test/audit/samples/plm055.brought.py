from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, HfArgumentParser
from transformers import Trainer, TrainingArguments

from corpora import splits, trainer_options

(settings,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
words = splits(settings)


def hits(prediction):
    guessed = prediction.predictions.argmax(-1)
    return {"hits": (guessed == prediction.label_ids).mean()}


def train(name):
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto")
    Trainer(model, settings, compute_metrics=hits, **words).train()  # likely: PLM055


def train_unmeasured(name):
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto")
    # trap: nothing wants the logits
    Trainer(model, settings, compute_metrics=None, **words).train()


def train_on(name, rows):
    model = AutoModelForCausalLM.from_pretrained(name, torch_dtype="auto")
    # trap: what else it is told may be anything, and the data are named
    Trainer(model, settings, train_dataset=rows, compute_metrics=hits, **trainer_options()).train()


def train_judge(name):
    model = AutoModelForSequenceClassification.from_pretrained(name, torch_dtype="auto")
    # trap: two numbers for each example
    Trainer(model, settings, compute_metrics=hits, **words).train()
