import gc

import torch


class Cleaner:
    def on_batch_end(self, loss, debug=False):
        gc.collect()  # likely: PLM031
        if debug:
            # trap: off unless someone asks
            torch.cuda.empty_cache()


def fit(net, loader, optimizer, criterion):
    net.cuda()
    for x, y in loader:

        def closure():
            loss = criterion(net(x.cuda()), y.cuda())
            loss.backward()
            torch.cuda.empty_cache()  # likely: PLM031
            return loss

        optimizer.step(closure)
    # trap: after training
    torch.cuda.empty_cache()
