import torch


class Trainer:
    def train(self, batches):
        total = torch.zeros([], device="cuda")
        for batch in batches:
            loss = self.model(batch.cuda()).mean()
            loss.backward()
            # trap: begun and ended in one step, whose micro-batches these are
            total += loss
        self.optimizer.step()
        self.optimizer.zero_grad()
        return total.item()


def epoch(model, loader, optimizer):
    running = 0.0
    for batch in loader:
        loss = model(batch.cuda()).mean()
        loss.backward()
        optimizer.step()
        running += loss  # expect: PLM001
    return running
