import pickle

import torch


def statistics(path, loader, device=torch.device("cuda")):
    with open(path, "rb") as f:
        detector_net = pickle.load(f).to(device)
    sigma = torch.zeros([2048, 2048], device=device)
    for images in loader:
        features = detector_net(images.to(device)).to(torch.float64)
        # trap: what was pickled may have been frozen before
        sigma += features.T @ features
    return sigma
