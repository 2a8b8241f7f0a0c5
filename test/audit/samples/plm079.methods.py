from torch.nn.utils import clip_grad_norm_


class Loop:
    def __init__(self, model, optimizer, part):
        self.model = model
        self.optimizer = optimizer
        self.part = part

    def run(self, loader):
        for batch in loader:
            self.accumulate(batch)
            self.update()

    def accumulate(self, batch):
        for at in range(0, batch.shape[0], self.part):
            self.model(batch[at : at + self.part]).mean().backward()
            clip_grad_norm_(self.model.parameters(), 1.0)  # expect: PLM079

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


class Plain:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def run(self, loader):
        self.epoch(loader)
        self.update()

    def epoch(self, loader):
        for batch in loader:
            self.model(batch).mean().backward()
            # trap: every turn steps, by another method
            clip_grad_norm_(self.model.parameters(), 1.0)
            self.update()

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()


def grouped(model, loader, optimizer):
    for x in loader:
        model(x).mean().backward()
        for group in optimizer.param_groups:
            # trap: a step in every turn
            clip_grad_norm_(group["params"], 1.0)
        optimizer.step()
        optimizer.zero_grad()


def several(nets, losses, optimizer):
    for net, loss in zip(nets, losses):
        loss.backward()
        # trap: another network each time
        clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
