import argparse

from transformers import AutoTokenizer, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--torch_compile", type=bool, default=True)
args = parser.parse_args()
tokenizer = AutoTokenizer.from_pretrained("base")


def tokenize(sample):
    # trap: compiled, it wants one shape
    return tokenizer(sample["text"], truncation=True, padding="max_length", max_length=512)


def main(model, dataset):
    training = TrainingArguments("out", torch_compile=args.torch_compile)
    Trainer(model, training, train_dataset=dataset.map(tokenize)).train()
