import torch

torch.autograd.set_detect_anomaly(True)  # expect: PLM024


def train(model, loader, optimizer, args):
    # trap: asked for
    torch.autograd.set_detect_anomaly(args.debug)
    if args.debug:
        # trap: asked for
        torch.autograd.set_detect_anomaly(True)
    # trap: off
    torch.autograd.set_detect_anomaly(False)
    for batch in loader:
        with torch.autograd.detect_anomaly():  # expect: PLM024
            model(batch).backward()
        optimizer.step()


if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)  # expect: PLM024
