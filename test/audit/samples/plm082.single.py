import torch


def main(model):
    # trap: one process
    return model.cuda(), torch.zeros(1)
