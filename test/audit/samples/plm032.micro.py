import torch


class Agent:
    def __init__(self, net, optimizer):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.scaler = torch.amp.GradScaler("cuda")
        self.seen = 0

    def learn(self, images, labels):
        loss = torch.nn.functional.cross_entropy(self.net(images.cuda()), labels.cuda())
        self.scaler.scale(loss).backward()
        self.seen += 1
        if self.seen % 4 == 0:
            self.apply()
        if self.seen % 1000 == 0:
            self.tell()

    def apply(self):
        self.scaler.step(self.optimizer)
        before = self.scaler.get_scale()  # expect: PLM032
        self.scaler.update()
        return before

    def tell(self):
        # trap: takes no step, and is called now and then
        print(self.scaler.get_scale())


def train(net, optimizer, loader):
    agent = Agent(net, optimizer)
    for images, labels in loader:
        agent.learn(images, labels)


def accumulate(net, batches, optimizer, settings):
    for _ in range(settings.steps):
        for part, images in enumerate(batches):
            net(images.cuda()).mean().backward()
            if part + 1 == len(batches):
                torch.nn.utils.clip_grad_norm_(
                    net.parameters(),
                    1.0,
                    error_if_nonfinite=True,  # expect: PLM032
                )
        optimizer.step()
        optimizer.zero_grad()


def plain(net, loader, optimizer):
    for step, images in enumerate(loader):
        net(images.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == len(loader) - 1:
            # trap: once an epoch
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)
