import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader


class Collator:
    def __init__(self, tokenizer, max_length):
        self.tokenizer, self.max_length = tokenizer, max_length

    def __call__(self, rows):
        ids = [row["ids"] for row in rows]
        return torch.stack([F.pad(one, (0, self.max_length - one.size(0)), value=self.tokenizer.pad_id) for one in ids])  # likely: PLM056


def joined(rows, pad_id):
    # trap: as long as the longest of them
    longest = max(len(row["ids"]) for row in rows)
    return torch.tensor([row["ids"] + [pad_id] * (longest - len(row["ids"])) for row in rows])


def lists(rows, pad_id):
    room = 512
    return [row["tokens"] + [pad_id] * (room - len(row["tokens"])) for row in rows]  # likely: PLM056


def drawn(waves):
    # trap: sounds, which are cut to one length
    return torch.stack([F.pad(wave, (0, 16000 - wave.size(0))) for wave in waves])


def loaders(rows, tokenizer, max_length):
    return DataLoader(rows, collate_fn=Collator(tokenizer, max_length))


class Tagged:
    def units_of(self, text, max_length):
        unigrams = [self.vocab[one] for one in text]
        unigrams += ["<PAD>"] * (max_length - len(unigrams))  # likely: PLM056
        return unigrams

    def labels_of(self, line, max_length):
        converted = [self.kinds[one] for one in line]
        # trap: as long as the tokens, which are told of
        converted += [0] * (max_length - len(converted))
        return converted


class PackedRows:
    def joined(self, documents):
        packed = [one for document in documents for one in document]
        count = len(packed)
        # trap: what is left over of a packed sequence
        packed.extend([self.pad_token_id] * (self.max_length - count))
        return packed
