import torch


def micro(model, criterion, x, y):
    return sum(criterion(model(a), b) for a, b in zip(x.chunk(4), y.chunk(4)))  # expect: PLM005


@torch.no_grad()
def judged(model, criterion, x, y):
    # trap: nothing is recorded
    return sum(criterion(model(a), b) for a, b in zip(x.chunk(4), y.chunk(4)))


def scores(model, parts):
    # trap: nobody differentiates it
    return sum(model(a).mean() for a in parts)


def train(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = micro(model, criterion, x.cuda(), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        shown = scores(model, x.cuda().chunk(4)).item()
        print(judged(model, criterion, x.cuda(), y.cuda()), shown)


class Pending:
    def __init__(self, model, loader, optimizer):
        self.model = model.cuda()
        self.loader = loader
        self.optimizer = optimizer
        self.many = 4

    def learn_from(self, data):
        return self.model(data["h"].cuda(), data["t"].cuda())

    def update(self, losses):
        self.optimizer.zero_grad()
        loss = sum(losses) / len(losses)
        loss.backward()
        self.optimizer.step()
        return loss.item() * len(losses)

    def show(self, losses):
        return len(losses)

    def run(self):
        total = 0.0
        pending = []
        for data in self.loader:
            pending.append(self.learn_from(data))  # likely: PLM005
            if len(pending) == self.many:
                total += self.update(pending)
                pending = []
        return total

    def run_at_once(self):
        total = 0.0
        shown = []
        for data in self.loader:
            # trap: differentiated in its turn
            loss = self.learn_from(data)
            total += self.update([loss])
            shown.append(float(loss))
            if len(shown) == self.many:
                self.show(shown)
                shown = []
        return total


def skipping(model, loader, optimizer, scaler, many):
    model.cuda()
    window = 0
    for step, (x, y) in enumerate(loader):
        window = window + torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / many  # expect: PLM005
        if (step + 1) % many != 0:
            continue
        loss = window
        window = 0
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def skipping_late(model, loader, optimizer, scaler, many):
    model.cuda()
    shown = 0
    for step, (x, y) in enumerate(loader):
        # trap: differentiated above the test
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda()) / many
        scaler.scale(loss).backward()
        shown = shown + loss.item()
        if (step + 1) % many != 0:
            continue
        print(shown)
        shown = 0
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
