"""Functions of the program's own that log."""

import torch
import torch.nn.functional as F

device = torch.device("cuda")


def log_all(writer, values, step):
    for name, value in values.items():
        writer.add_scalar(name, value, step)


def log_sometimes(writer, values, step):
    if step % 50 == 0:
        for name, value in values.items():
            writer.add_scalar(name, value, step)


def log_read(values, step):
    if step % 50 == 0:
        for name, value in values.items():
            print(name, value.item())


def log_sizes(writer, values, step):
    for name, value in values.items():
        writer.add_scalar(name, value.numel(), step)


class Run:
    def _write_losses(self, loss, step):
        self.writer.add_scalar("loss", loss, step)  # expect: PLM069

    def _write_all(self, losses, step):
        for name, value in losses.items():
            self.writer.add_scalar(name, value, step)

    def train(self, loader):
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(self.model(x.to(device)), y.to(device))
            loss.backward()
            self.optimizer.step()
            # trap: told once, where it is read
            self._write_losses(loss, step)
            self._write_all({"loss": loss}, step)  # expect: PLM069


def train(model, loader, optimizer, writer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        log_all(writer, {"loss": loss}, step)  # expect: PLM069
        # trap: it logs now and then by itself
        log_sometimes(writer, {"loss": loss}, step)
        # trap: it reads now and then by itself
        log_read({"loss": loss}, step)
        # trap: of the tensor nothing is read
        log_sizes(writer, {"loss": loss}, step)
