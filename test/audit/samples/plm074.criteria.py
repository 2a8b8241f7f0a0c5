import torch
import torch.nn.functional as F

from boxes import overlaps


class SetCriterion:
    def __init__(self, device):
        self.device = torch.device("cuda")

    def __call__(self, outputs, targets):
        boxes = torch.cat(outputs["boxes"], dim=1)
        chosen = boxes.view(-1, 4)[targets["mask"]]
        near = overlaps(chosen.double(), targets["boxes"])  # expect: PLM074
        # trap: on the host
        far = overlaps(chosen.detach().cpu().double(), targets["boxes"].cpu())
        # trap: counted
        hits = (near > 0.5).double().sum()
        return 1 - near.mean(), far, hits


class Detecting:
    def __init__(self, net):
        self.net = net.cuda()

    def loss_boxes(self, wanted, given):
        return F.l1_loss((wanted - given).to(torch.float64), torch.zeros_like(given))  # expect: PLM074

    def loss_of_anchors(self, wanted):
        anchors = torch.arange(8)
        # trap: nothing that was handed in
        return anchors.double().sum() + wanted.sum()

    def test_loss(self, wanted, given):
        # trap: no step waits for it
        return (wanted.double() - given.double()).abs().mean()

    def glossary(self, words):
        # trap: no loss
        return words.double()
