"""The search is a setting, and on unless somebody says otherwise."""

import argparse

import torch
from torch.nn.utils.rnn import pad_sequence


class HParams:
    def __init__(self, **given):
        self.__dict__.update(given)


def settings():
    return HParams(epochs=500, cudnn_search=True, cudnn_seldom=False)


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--search", action="store_true")
    return parser.parse_args()


def collate(rows):
    return pad_sequence(rows, batch_first=True)


def prepare(hparams, args, search=True, fast=None):
    torch.backends.cudnn.benchmark = hparams.cudnn_search  # expect: PLM064
    torch.backends.cudnn.benchmark = not args.exact  # expect: PLM064
    torch.backends.cudnn.benchmark = search  # expect: PLM064
    # trap: off unless somebody says otherwise
    torch.backends.cudnn.benchmark = hparams.cudnn_seldom
    # trap: off unless it is asked for
    torch.backends.cudnn.benchmark = args.search
    # trap: nobody knows
    torch.backends.cudnn.benchmark = fast
    # trap: a setting of which nothing is known
    torch.backends.cudnn.benchmark = args.something
