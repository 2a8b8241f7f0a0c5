"""Losses of several scales of what one forward gave: all of them want its graph."""

from core import safe_log, scaled


def train(model, loader, opt, scales):
    for s, pitch in loader:
        y = model(pitch)
        wanted, made = scaled(s, scales), scaled(y, scales)
        loss = 0
        for a, b in zip(wanted, made):
            lin_loss = (a - b).abs().mean()
            log_loss = (safe_log(a) - safe_log(b)).abs().mean()
            # trap: of one forward
            loss = loss + lin_loss + log_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
