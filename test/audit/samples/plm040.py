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
