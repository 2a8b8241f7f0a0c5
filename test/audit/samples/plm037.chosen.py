import torch
from torch.utils.data import DataLoader


def on_device(model, dataset, optimizer, args):
    kwargs = {"num_workers": 2, "pin_memory": True} if not args.no_cuda else {}
    for x in DataLoader(dataset, batch_size=8, **kwargs):
        loss = model(x.cuda()).sum()  # expect: PLM037
        loss.backward()
        optimizer.step()


def without(model, dataset, optimizer, use_cuda):
    kwargs = {"pin_memory": True} if not use_cuda else {}
    for x in DataLoader(dataset, batch_size=8, **kwargs):
        # trap: pinned only where there is no device
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()


def asked(model, dataset, optimizer, args):
    kwargs = {"pin_memory": True} if args.debug else {}
    for x in DataLoader(dataset, batch_size=8, **kwargs):
        # trap: who knows whether
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()


def told(model, dataset, optimizer):
    kwargs = {"pin_memory": True} if torch.cuda.is_available() else {"batch_size": 4}
    for x in DataLoader(dataset, **kwargs):
        # trap: one of two
        loss = model(x.cuda()).sum()
        loss.backward()
        optimizer.step()
