from collections import defaultdict
from dataclasses import dataclass

import torch
import wandb
from torch.nn import functional as F

LOG_EVERY = 1


@dataclass
class TrainConfig:
    log_frequency: int = 1
    show_frequency: int = 50
    eval_frequency: int = 1


class Fitting:
    def __init__(self, net, names, cfg):
        self.net = net.cuda()
        self.cfg = cfg
        self.names = names
        self.unused = {name: torch.zeros(8, device="cuda") for name in names}

    def fit(self, loader, optimizer, threshold):
        avg_loss = defaultdict(float)
        for step, (x, y) in enumerate(loader):
            loss = F.mse_loss(self.net(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            info = {}
            for name in self.names:
                avg_loss[name] += float(loss)
                dead = self.unused[name] > threshold
                if (step + 1) % self.cfg.log_frequency == 0:
                    info[f"dead/{name}"] = dead.mean(dtype=torch.float32)  # likely: PLM069
                    # trap: numbers
                    info[f"loss/{name}"] = avg_loss[name]
            if (step + 1) % self.cfg.log_frequency == 0:
                wandb.log(info)
            if step % LOG_EVERY == 0 and self.names:
                wandb.log({"loss": loss})  # likely: PLM069
            if step % self.cfg.show_frequency == 0:
                # trap: now and then
                wandb.log({"shown": loss})
            if step % self.cfg.eval_frequency == 0:
                # trap: of an evaluation, which nobody has on every step
                wandb.log({"judged": loss})


def fit(net, loader, optimizer, log_every=1, every=20):
    net.cuda()
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not step % log_every:
            wandb.log({"loss": loss})  # likely: PLM069
        if step % every == 0:
            # trap: now and then
            wandb.log({"rare": loss})
