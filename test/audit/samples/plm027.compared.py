import time

import torch

from layers import fast, slow


def train(model, loader):
    model = model.cuda()
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
        assert loss > 0  # expect: PLM027
        loss.backward()


if __name__ == "__main__":
    for _ in range(50):
        x = torch.randn(4, 128, 64, 64, device="cuda", requires_grad=True)
        begin = time.time()
        fast(x).sum().backward()
        print(time.time() - begin)
        # trap: nothing steps in this file: two layers are compared and timed
        assert torch.allclose(fast(x), slow(x))
