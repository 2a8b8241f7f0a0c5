import argparse

import bitsandbytes as bnb
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--small_states", action="store_true")
parser.add_argument("--whole_states", action="store_true")
parser.add_argument("--optimizer", default="adamw")
parser.add_argument("--second", default="sgd")
args = parser.parse_args()

KINDS = {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}


def build(model):
    model.cuda()
    if args.small_states:
        kind = bnb.optim.AdamW8bit
    else:
        kind = torch.optim.AdamW
    first = kind(model.parameters(), lr=1e-4)  # expect: PLM057
    if args.whole_states:
        other = torch.optim.AdamW
    else:
        other = bnb.optim.AdamW8bit
    # trap: only for who asks for it
    second = other(model.parameters(), lr=1e-4)
    third = KINDS[args.optimizer](model.parameters(), lr=1e-4)  # expect: PLM057
    # trap: another one by default
    fourth = KINDS[args.second](model.parameters(), lr=0.1)
    return first, second, third, fourth


def made(model, kind=torch.optim.AdamW):
    return kind(model.cuda().parameters(), lr=1e-4)  # expect: PLM057


def given(model, kind=torch.optim.AdamW):
    # trap: whoever calls it says which
    return kind(model.cuda().parameters(), lr=0.1)


def shared(model):
    # trap: a name of the class that fused is asked of
    kind = torch.optim.AdamW
    return kind(model.cuda().parameters(), lr=1e-4, fused=True), given(model, torch.optim.SGD)


def spelt(model):
    settings = {"lr": 1e-4, "foreach": None, "fused": None}
    return torch.optim.AdamW(model.parameters(), **settings)  # expect: PLM057


def by_word(model, word):
    kind = bnb.optim.AdamW8bit
    if word == "adamw":
        kind = torch.optim.AdamW
    if args.optimizer == "adamw":
        usual = torch.optim.AdamW
    else:
        usual = torch.optim.SGD
    second = usual(model.cuda().parameters(), lr=1e-4)  # expect: PLM057
    # trap: nobody knows the word
    return kind(model.cuda().parameters(), lr=1e-4), second


def kept(model):
    kind = getattr(torch.optim, "AdamW")
    first = kind(model.cuda().parameters(), lr=1e-4)  # expect: PLM057
    # trap: the other one
    return first, KINDS.get("sgd")(model.parameters(), lr=0.1), KINDS.get("adamw")(model.parameters())  # expect: PLM057
