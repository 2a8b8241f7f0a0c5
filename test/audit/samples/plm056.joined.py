import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorWithPadding

tokenizer = AutoTokenizer.from_pretrained("base")


def encode(model, rows):
    loader = DataLoader(
        rows,
        collate_fn=DataCollatorWithPadding(tokenizer, padding="max_length", max_length=128),  # expect: PLM056, by hand
    )
    # A vector for each token: those of all batches have one length.
    return torch.cat([model(**batch)[0].cpu() for batch in loader])


def training(rows):
    # trap: to the longest of the batch
    return DataLoader(rows, collate_fn=DataCollatorWithPadding(tokenizer))
