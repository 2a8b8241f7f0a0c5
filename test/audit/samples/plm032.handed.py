from torch.cuda.amp import GradScaler


class FixedFactor:
    def __init__(self, factor):
        self.factor = factor

    def scale(self, loss):
        return loss * self.factor

    def get_scale(self):
        return self.factor


def train(model, loader, optimizer, amp):
    for x in loader:
        amp.scale(model(x.cuda()).sum()).backward()
        amp.step(optimizer)
        amp.update()
        print(amp.get_scale())  # expect: PLM032


def train_fixed(model, loader, optimizer, factor):
    for x in loader:
        factor.scale(model(x.cuda()).sum()).backward()
        optimizer.step()
        # trap: a number of the host
        print(factor.get_scale())


def train_drawn(model, loader, optimizer, view):
    for x in loader:
        model(view.scale(x.cuda())).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        # trap: how large something is drawn
        print(view.get_scale())


def run(model, loader, optimizer):
    amp = GradScaler()
    train(model, loader, optimizer, amp)
    fixed = FixedFactor(128.0)
    train_fixed(model, loader, optimizer, fixed)
