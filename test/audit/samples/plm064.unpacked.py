import pytorch_lightning as pl
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def together(waves):
    return pad_sequence(waves, batch_first=True)


def fit(module, data, several):
    settings = {"max_epochs": 10, "benchmark": True}  # expect: PLM064
    if several:
        settings["strategy"] = "ddp"
    loader = DataLoader(data, batch_size=8, collate_fn=together, num_workers=4)
    pl.Trainer(**settings).fit(module, loader)


def measure(module, data):
    # trap: no trainer is given it
    report = {"benchmark": True, "size": len(data)}
    # trap: it is off
    settings = {"max_epochs": 1, "benchmark": False}
    pl.Trainer(**settings).validate(module, DataLoader(data, batch_size=8, collate_fn=together, num_workers=4))
    return report
