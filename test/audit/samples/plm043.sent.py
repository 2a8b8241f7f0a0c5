import numpy as np
import torch


def loss(net, x, mean_size, anchor, image):
    sizes = torch.tensor(mean_size).cuda().float().unsqueeze(0)  # likely: PLM043
    places = torch.from_numpy(anchor).unsqueeze(0).to(x.device).float()  # likely: PLM043
    # trap: bytes are better sent as they are
    picture = torch.from_numpy(image).to(x.device).float()
    # trap: cast first
    cast = torch.from_numpy(anchor).float().to(x.device)
    return net(x, sizes, places, picture, cast)
