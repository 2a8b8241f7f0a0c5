import torch
from torch import nn
from torch.nn import functional as F


class Painter:
    def __init__(self, width):
        self.net = nn.Conv2d(width, width, 3).cuda()
        self.optimizer = torch.optim.AdamW(self.net.parameters())

    def advance(self, rough, wanted, training=True):
        painted = self.net(rough)
        loss = F.l1_loss(painted, wanted)
        if training:
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return painted, {"loss": loss, "image": painted}


def judge(painter, valid_pairs):
    images, preds, losses, seen = [], [], [], []
    for rough, wanted in valid_pairs:
        with torch.no_grad():
            pred, told = painter.advance(rough.cuda(), wanted.cuda(), training=False)
        preds.append(pred)  # expect: PLM003
        images.append(told["image"])  # expect: PLM003
        # trap: numbers
        losses.append(told["loss"])
        loss = told["loss"]
        losses.append(loss)
        # trap: on the host
        seen.append(pred.cpu())
        image = told["image"].cpu()
        seen.append(image)
    return images, preds, losses, seen


def first(painter, valid_pairs):
    losses = []
    for rough, wanted in valid_pairs:
        with torch.no_grad():
            out = painter.advance(rough.cuda(), wanted.cuda(), training=False)
        # trap: nobody says what stands there
        losses.append(out[1])
    return losses


def look(painter, valid_pairs):
    preds = []
    for rough, wanted in valid_pairs:
        with torch.no_grad():
            pred, _ = painter.advance(rough.cuda(), wanted.cuda(), training=False)
        # trap: a handful of batches
        preds.append(pred)
        if len(preds) > 3:
            break
    return preds
