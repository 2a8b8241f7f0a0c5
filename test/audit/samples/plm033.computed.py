import torch
import torch.nn as nn


class HardPixels(nn.Module):
    def __init__(self, thresh, scales, gpu):
        super().__init__()
        self.thresh = thresh
        self.scales = scales
        self.gpu = gpu
        self.bound = -torch.log(torch.tensor(thresh)).cuda()
        self.compare = nn.CrossEntropyLoss(reduction="none")

    def forward(self, logits, labels, lengths):
        loss = self.compare(logits, labels).view(-1)
        thresh = -torch.log(torch.tensor(self.thresh, dtype=torch.float)).cuda()  # likely: PLM033
        rates = (1.0 / torch.tensor(self.scales)).sqrt().to(self.gpu)  # likely: PLM033
        decay = torch.exp(torch.tensor([0.1, 0.2, 0.3])).cuda()  # expect: PLM033
        # trap: what the batch brings
        spread = torch.log(torch.tensor(lengths)).to(self.gpu)
        # trap: a tensor that was made once, on the device
        kept = torch.exp(self.bound).cuda()
        # trap: multiplied with the batch, it is another one each time
        mixed = (torch.tensor(lengths) * logits.mean().item()).to(self.gpu)
        return loss[loss > thresh].mean() * rates.sum() + decay.sum() + spread.sum() + kept + mixed.sum()
