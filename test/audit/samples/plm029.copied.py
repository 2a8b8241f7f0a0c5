import torch
import torch.nn.functional as F


def train(model, loader, optimizer, log):
    model = model.cuda()
    first, second = [], []
    for x, y in loader:
        scores = model(x.cuda())
        loss = F.cross_entropy(scores, y.cuda())
        spread_loss = scores.square().mean()
        (loss + spread_loss).backward()
        optimizer.step()
        optimizer.zero_grad()
        first.append(loss.detach().cpu().item())  # expect: PLM029
        second.append(float(spread_loss.cpu()))
        log.flush()
        first.append(loss.detach().cpu().numpy())  # expect: PLM029
        second.append(spread_loss.data.cpu().numpy())
        log.flush()
        # trap: as many numbers as there are, and no loss
        first.append(scores.detach().cpu().numpy())
        second.append(y.numpy())
        log.flush()
        # trap: on the host
        order = torch.arange(8)
        first.append(order.float().mean().item())
        second.append(order.float().std().item())
        log.flush()
        parts = {"loss": loss, "spread": spread_loss}
        log.write(" ".join(str(parts[name].item()) for name in ("loss", "spread")))  # expect: PLM029


def train_either(model, loader, optimizer, boxes, criterion):
    model = model.cuda()
    told = []
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if boxes:
            # trap: one of the two
            told.append(loss.item())
        else:
            told.append((len(x), loss.item()))


class Pair:
    def __init__(self, maker, judge):
        self.maker = maker.cuda()
        self.judge = judge.cuda()
        self.names = ["maker", "judge"]
        self.optimizer = torch.optim.Adam(self.maker.parameters())
        self.told = {}

    def step(self, x):
        self.loss_judge = self.judge(x).mean()
        self.loss_maker = self.maker(x).mean()
        (self.loss_judge + self.loss_maker).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        for name in self.names:
            self.told[name] = float(getattr(self, "loss_" + name))  # expect: PLM029
        # trap: a setting
        self.rates = [float(getattr(self, "rate_" + name)) for name in self.names]
