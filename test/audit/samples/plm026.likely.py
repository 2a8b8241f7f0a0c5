import torch
import torch.nn.functional as F


class Watcher:
    def on_batch_end(self, outputs, labels, bar):
        print(outputs)  # likely: PLM026
        # trap: right after a read, nothing is queued
        bar.set_postfix(right=(outputs == labels).float().mean())

    def train_step(self, features, names, bar):
        for feature, part in zip(self.features, features):
            # trap: what it is called
            bar.set_postfix(**{f"train_{feature}": 1})
        bar.set_postfix(right=features.float().mean())  # likely: PLM026
        if features.max() > 1.0:
            # trap: where it is out of range
            print("too large:", features.max())
        # trap: once an epoch, it says
        print(f"Epoch {names}: {features.mean()}")


class Reporter:
    def __init__(self):
        self.train_loss: float = 0.0

    def report(self, loss):
        self.train_loss = loss.item() / self.world
        self.state.last_loss = self.train_loss

    def train_batch(self, bar, logits, history):
        kl = self.config.get_kl_coef(len(history))
        entropy = logits.item() if torch.is_tensor(logits) else logits
        out = max(kl / (entropy + 1e-6), 0.0)
        # trap: numbers all, by what made them
        print(self.train_loss, self.state.last_loss)
        # trap: numbers too
        bar.set_postfix(kl=kl, entropy=entropy, out=out)


def train(net, agent, loader, optimizer, debug):
    net.cuda()
    for images, labels in loader:
        loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
        if debug:
            # trap: seldom asked for
            print(loss)
        # trap: what learns by itself hands back numbers
        told = agent.update(images)
        print(told["loss"])


def train_parts(net, criterion, loader, optimizer):
    net.cuda()
    for images, labels in loader:
        parts = criterion(net(images.cuda()), labels.cuda())
        loss = sum(parts[k] * criterion.weights[k] for k in parts.keys())
        loss.backward()
        optimizer.step()
        print(" | ".join(f"{name}: {part:.3f}" for name, part in parts.items()))  # likely: PLM026
        # trap: what they are called
        print(" | ".join(f"{name}" for name in parts))
        sizes = {name: len(name) for name in criterion.weights}
        # trap: numbers of the host
        print(" | ".join(f"{name}: {size}" for name, size in sizes.items()))
