import numpy as np
import torch

torch.set_default_tensor_type("torch.cuda.FloatTensor")


def train(net, images, optimizer, height, width):
    places = torch.arange(height * width)
    kept = torch.zeros(height * width, device="cpu")
    shown = torch.from_numpy(np.zeros(height * width, dtype=np.float32))
    for image in images:
        rows = np.random.choice(height * width, size=1024, replace=False)
        chosen = places[rows]  # expect: PLM070
        # trap: told to be on the host
        weights = kept[np.random.randint(100, size=8)]
        # trap: an array's memory is the host's
        seen = shown[np.random.randint(100, size=8)]
        loss = net(chosen).mean() + weights.mean().cuda() + seen.mean().cuda() + image.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
