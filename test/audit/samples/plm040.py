import numpy as np
from datasets import load_dataset
from torch.utils.data import Dataset


class Eager(Dataset):
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.raw = load_dataset("squad", split="train")
        self.examples = self.prepare()

    def prepare(self):
        done = []
        for row in self.raw:
            done.append(self.tokenizer(row["question"]))  # expect: PLM040
        return done

    def __getitem__(self, at):
        return self.examples[at]


class Names(Dataset):
    def __init__(self, paths):
        self.paths = []
        for path in paths:
            # trap: only names
            self.paths.append(path.strip())


class Lazy(Dataset):
    def __init__(self, raw, tokenizer, cached=False):
        self.raw, self.tokenizer = raw, tokenizer
        if cached:
            # trap: asked for
            self.fill()

    def fill(self):
        self.rows = []
        for row in self.raw:
            self.rows.append(self.tokenizer(row))


class Report:
    def __init__(self, rows, tokenizer):
        self.rows = []
        for row in rows:
            # trap: no dataset
            self.rows.append(tokenizer(row))


def count_words(texts, tokenizer):
    words = [tokenizer(text) for text in texts]
    return len(words)


def encode_all(texts, tokenizer):
    rows = [tokenizer(text) for text in texts]
    return {"rows": rows, "lengths": [len(row) for row in rows]}


class Named(Dataset):
    def __init__(self, texts, tokenizer):
        # trap: a number is left of it
        words = count_words(texts, tokenizer)
        self.words = words
        encoded = encode_all(texts, tokenizer)
        self.rows = encoded["rows"]  # expect: PLM040
        self.lengths = encoded["lengths"]


class Deeper(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.prepare()

    def prepare(self):
        self.volumes = self.read()
        self.sizes = self.measure()

    def read(self):
        volumes = {}
        for path in self.paths:
            volumes[path] = np.load(path)  # expect: PLM040
        return volumes

    def measure(self):
        sizes, last = {}, {}
        for path in self.paths:
            # trap: one at a time, and not kept
            last["volume"] = np.load(path)
            sizes[path] = len(last["volume"])
        return sizes
