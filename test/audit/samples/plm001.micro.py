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


def deep(model, loader, optimizer, criterion, other):
    for x, y in loader:
        outputs = model(x.cuda())
        loss_seg = 0
        loss_other = 0
        for at in range(len(outputs)):
            # trap: of the outputs of one step, begun anew in the next
            loss_seg += criterion(outputs[at], y.cuda())
            loss_other += other(outputs[at], y.cuda())
        loss = 0.5 * loss_other
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
