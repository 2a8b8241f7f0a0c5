import bitsandbytes as bnb
import torch


def build(model, kind, small=False, whole=False):
    model.cuda()
    if kind == "adamw":
        if small:
            make = bnb.optim.AdamW8bit
        else:
            make = torch.optim.AdamW
        return make(model.parameters(), lr=1e-4)  # expect: PLM057
    if kind == "eight":
        # trap: only for who asks for it
        make = torch.optim.AdamW if whole else bnb.optim.AdamW8bit
        return make(model.parameters(), lr=1e-4)
    make = bnb.optim.AdamW8bit
    if kind == "other":
        make = torch.optim.AdamW
    # trap: nobody knows which kind
    return make(model.parameters(), lr=1e-4)
