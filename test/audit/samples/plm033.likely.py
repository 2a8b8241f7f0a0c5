import numpy as np
import torch
import torch.nn.functional as F

MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)


class Margin(torch.nn.Module):
    def __init__(self, margins, width, gpu):
        super().__init__()
        self.margins = margins
        self.gpu = gpu
        self.head = torch.nn.Linear(width, width)

    def forward(self, x, labels, lengths):
        w = torch.tensor(self.margins)
        w = w.to(self.gpu)  # expect: PLM033
        # trap: what the batch brings
        y = torch.tensor(labels).to(self.gpu)
        # trap: another for each batch
        steps = torch.as_tensor(lengths, device=x.device)
        if not len(lengths):
            # trap: where there is nothing to compare
            return torch.tensor(0.0).to(self.gpu)
        # trap: hardly ever are there none
        empty = x.sum() if len(labels) > 0 else torch.tensor([0.0] * 4).to(self.gpu)
        return F.cross_entropy(self.head(x) * w, y) + empty.sum() + steps.sum()


# trap: makes the loss, once
def get_loss_fn(config, gpu):
    return torch.nn.CrossEntropyLoss(weight=torch.tensor(config.class_weights).to(gpu))


class Sampler(torch.nn.Module):
    def forward(self, x, flow):
        shape = flow.shape[2:]
        extent = torch.tensor([size - 1.0 for size in shape], device=flow.device)  # likely: PLM033
        # trap: made on the device, of numbers that go there with the launch
        lengths = torch.full((2,), shape[0] - 1.0, device=flow.device)
        # trap: on the host
        sizes = torch.tensor([size - 1.0 for size in shape])
        return flow / extent.view(1, -1, 1, 1), lengths, sizes
