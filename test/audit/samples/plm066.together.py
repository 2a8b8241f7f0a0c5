import torch
from engines import ProbeTrainer, save
from helpers import freeze_stem


def probe(net, examples, loss_fn):
    optimizer = torch.optim.AdamW(net.classifier.parameters(), lr=1e-3)  # expect: PLM066
    ProbeTrainer(net, optimizer, loss_fn).fit(examples)


def keep(net, path):
    # trap: nobody trains it there
    optimizer = torch.optim.AdamW(net.classifier.parameters(), lr=1e-3)
    save(net, optimizer, path)


def retrain(net, examples, loss_fn):
    # trap: all of it
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    ProbeTrainer(net, optimizer, loss_fn).fit(examples)


def in_turns(net, examples, loss_fn):
    # trap: another optimizer has the rest
    optimizer = torch.optim.SGD(net.classifier.parameters(), lr=0.1)
    stem = torch.optim.SGD(net.stem.parameters(), lr=0.01)
    ProbeTrainer(net, [optimizer, stem], loss_fn).fit(examples)
