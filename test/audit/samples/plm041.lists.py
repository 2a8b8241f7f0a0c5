import torch
from torch.utils.data import DataLoader, Dataset
from transformers import Trainer, TrainingArguments


def loaders(dataset, held_out, tokens, few):
    # faster to index
    examples = [dataset[at] for at in range(len(dataset))]  # expect: PLM041
    train = DataLoader(examples, shuffle=True, num_workers=4)
    # trap: no worker reads them
    kept = list(held_out)
    evaluated = DataLoader(kept)
    # trap: a block each, outside of Python
    blocks = [torch.tensor(one) for one in tokens]
    # trap: one array
    whole = torch.stack([torch.tensor(one) for one in few])
    return train, evaluated, DataLoader(blocks, num_workers=4), DataLoader(whole, num_workers=4)


def pairs_of(records):
    pairs = []  # expect: PLM041
    for record in records:
        pairs.append((record["prompt"], record["answer"]))
    return DataLoader(pairs, num_workers=2)


def opened(load, names):
    captions = []
    for name in names:
        captions.append(str(name))
    # trap: what is handed back is another thing than the list
    return load(captions).with_transform(str)


def loader_of(load, names):
    return DataLoader(opened(load, names), num_workers=2)


class Shard(Dataset):
    def __init__(self, records, rank, ranks):
        self.records = records[rank:][::ranks]  # likely: PLM041

    def __len__(self):
        return len(self.records)

    def __getitem__(self, at):
        return self.records[at]["tokens"]


def sharded(paths, rank, ranks):
    records = [dict(path=path, place=place) for place, path in enumerate(paths)]
    return DataLoader(Shard(records, rank, ranks), num_workers=8)  # expect: PLM041


def train(model, dataset):
    arguments = TrainingArguments("out", dataloader_num_workers=4)
    Trainer(model, arguments, train_dataset=list(dataset)).train()  # expect: PLM041
    # trap: as it is, in an Arrow table
    Trainer(model, arguments, train_dataset=dataset).train()
