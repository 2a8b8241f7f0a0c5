"""Settings that stand in groups are settings."""

import torch


def fit(net, loader, optimizer, hp, cfg, opt, device):
    net.to(device)
    train = hp.train
    for batch in loader:
        x = batch["x"].to(device)
        main, other = net(x)
        weights = torch.tensor([1.0, hp.train.stft_lamb], device=device)  # expect: PLM033
        pair = torch.tensor([cfg["loss"]["main"], cfg["loss"]["other"]], device=device)  # expect: PLM033
        named = torch.tensor([1.0, train.stft_lamb], device=device)  # expect: PLM033
        asked = torch.tensor([opt.get("main", 1.0), getattr(opt, "other", 0.5)], device=device)  # expect: PLM033
        # trap: a batch in groups is no settings
        wanted = torch.tensor(batch["target"]["score"], device=device)
        loss = (torch.stack([main.mean(), other.mean()]) * weights * pair * named * asked).sum()
        optimizer.zero_grad()
        (loss + (main - wanted).square().mean()).backward()
        optimizer.step()


def tried(net, runs, images, optimizer, device):
    net.to(device)
    for cfg in runs:
        # trap: each turn has settings of its own
        depths = torch.tensor(cfg.model.depths, device=device)
        loss = net(images.to(device), depths).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
