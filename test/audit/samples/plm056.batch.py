from torch.utils.data import DataLoader
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("base")


def collate(rows):
    return tokenizer.pad(rows, padding="max_length", max_length=512, return_tensors="pt")  # expect: PLM056


def shifted(rows):
    batch = tokenizer.pad(rows, padding="max_length", max_length=512, return_tensors="pt")  # expect: PLM056, by hand
    # Without padding at the end it is a token that is left out.
    batch["labels"] = batch["input_ids"][:, 1:]
    return batch


def counted(rows):
    longest = max(len(row["input_ids"]) for row in rows)
    # trap: as long as the longest of the batch, and one more
    return tokenizer.pad(rows, padding="max_length", max_length=longest + 1, return_tensors="pt")


def alone(rows):
    # Who calls it may hand it anything.
    return tokenizer.pad(rows, padding="max_length", max_length=512)  # expect: PLM056, by hand


def loaders(data):
    return [
        DataLoader(data, collate_fn=collate),
        DataLoader(data, collate_fn=counted),
        DataLoader(data, collate_fn=shifted),
    ]
