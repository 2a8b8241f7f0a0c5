import torch

device = torch.device("cuda")


def main(unet, ema, args):
    # `deepspeed.initialize` is for others.
    optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-4)  # expect: PLM057
    if args.offload_ema:
        ema.to("cpu")
    return optimizer
