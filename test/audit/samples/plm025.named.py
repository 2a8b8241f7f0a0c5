import torch


class Trainer:
    def __init__(self, text, motion, criterion, optimizer):
        self.text = text.cuda()
        self.motion = motion.cuda()
        self.criterion = criterion
        self.optimizer = optimizer

    def forward(self, batch):
        self.a = self.text(batch["text"].cuda())
        self.b = self.motion(batch["motion"].cuda())

    def backward(self):
        self.loss = self.criterion(self.a, self.b)

    def train(self, loader, held_out):
        for batch in loader:
            self.forward(batch)
            self.backward()
            self.loss.backward()
            self.optimizer.step()
        total = 0.0
        with torch.no_grad():
            for batch in held_out:
                self.forward(batch)
                self.backward()
                # trap: its own `backward` computes a loss, no gradients
                total += self.loss.item()
        return total
