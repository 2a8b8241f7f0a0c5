import torch
import torch.nn.functional as F


def balanced(output, target):
    weight = torch.tensor([0.2, 0.8]).to(output.device)  # expect: PLM033
    return F.nll_loss(output, target, weight=weight)


def from_settings(class_weights, device):
    # trap: it makes the loss, once
    return torch.nn.NLLLoss(weight=torch.tensor([0.2, 0.8]).to(device))


def focal(low, high):
    # trap: it hands out the loss, and this is made once
    weight = torch.tensor([0.2, 0.8]).to("cuda")

    def loss(output, target):
        return F.nll_loss(output, target, weight=weight).clamp(low, high)

    return loss


def get_table(rows):
    # trap: it makes something for somebody
    return torch.tensor([0.2, 0.8]).to("cuda")


def pick(name):
    return globals()[name]
