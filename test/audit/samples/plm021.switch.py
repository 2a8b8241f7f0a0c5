import argparse

import torch


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--free_grads", action="store_true")
    parser.add_argument("--hold-grads", default=True)
    parser.add_argument("--drop_grads", action="store_false")
    parser.add_argument("--chosen_grads", required=True)
    parser.add_argument("--forced", action="store_true")
    return parser.parse_args()


def fit(args, net, rows):
    args.forced = True
    opt = torch.optim.AdamW(net.parameters())
    for row in rows:
        net(row).mean().backward()
        opt.step()
        opt.zero_grad(set_to_none=args.free_grads)  # expect: PLM021


def inverted(args, net, rows):
    opt = torch.optim.AdamW(net.parameters())
    frees = not args.hold_grads
    for row in rows:
        net(row).mean().backward()
        opt.step()
        opt.zero_grad(set_to_none=frees)  # expect: PLM021


def freed(args, net, rows):
    opt = torch.optim.AdamW(net.parameters())
    for row in rows:
        net(row).mean().backward()
        opt.step()
        # On unless somebody turns it off, said by who starts it, and set by the program: none of them is off by default.
        opt.zero_grad(set_to_none=args.drop_grads)
        net.zero_grad(set_to_none=args.chosen_grads)
        opt.zero_grad(args.forced)
