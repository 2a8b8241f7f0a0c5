from transformers import Trainer


def encode(tokenizer, rows, how):
    a = tokenizer(rows, padding="max_length", truncation=True)  # expect: PLM056
    # trap: to the longest of the batch
    b = tokenizer(rows, padding=True)
    # trap: decided elsewhere
    c = tokenizer(rows, padding=how)
    # trap: no tokenizer
    d = print(rows, padding="max_length")
    return a, b, c, d


def train(model, rows):
    return Trainer(model, train_dataset=rows)
