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


class Kept:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.fixed = {"padding": "max_length"}  # expect: PLM056
        # trap: no tokenizer is given it
        self.told = {"padding": "max_length"}

    def __call__(self, rows):
        print(**self.told)
        return self.tokenizer(rows, **self.fixed)


def by_hand(rows, max_len, pad):
    for ids in rows:
        ids = ids + [pad] * (max_len - len(ids))  # expect: PLM056
    return rows


def to_longest(rows, pad):
    max_len = max(len(ids) for ids in rows)
    # trap: the longest of the batch
    return [ids + [pad] * (max_len - len(ids)) for ids in rows]


def generate(model, ids, max_len):
    # trap: generated, not padded
    while len(ids) < max_len:
        ids.append(model(ids))
    return ids
