import torch
from torch.nn import functional as F


def timed(model, process, loader, optimizer):
    model.train()
    for x in loader:
        total = 0.0
        for _ in range(4):
            total = total + process.training_loss(model, x)  # expect: PLM005
        total.backward()
        optimizer.step()
        optimizer.zero_grad()


def sampled(encoder, decoder, loader, optimizer):
    encoder.train()
    decoder.train()
    for x in loader:
        middle = encoder(x).flatten(1)
        total = 0.0
        for _ in range(4):
            noise = torch.randn_like(middle)
            # trap: the encoder's graph, from before the loop, is in all of them
            total = total + F.mse_loss(decoder(middle + noise), x)
        total.backward()
        optimizer.step()
        optimizer.zero_grad()


def ticking(model, loader, optimizer):
    model.train()
    for x, y in loader:
        total = 0.0
        for _ in range(4):
            # trap: a network that is run on the same again may keep a state of its own
            total = total + F.cross_entropy(model(x), y)
        total.backward()
        optimizer.step()
        optimizer.zero_grad()


def pooled(model, forward, clips, y, optimizer):
    model.train()
    scores = []
    for clip in clips:
        out = forward(model, clip)
        # trap: what is pooled has one loss
        scores.append(out["logits"])
    loss = F.cross_entropy(torch.stack(scores).amax(0), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def micro(model, loader, optimizer, accumulation_steps):
    model.train()
    for x, y in loader:
        total = 0.0
        for _ in range(accumulation_steps):
            total = total + F.cross_entropy(model(x), y) / accumulation_steps  # expect: PLM005
        total.backward()
        optimizer.step()
        optimizer.zero_grad()


def carried(model, loader, optimizer, accumulation_steps):
    model.train()
    for x, y in loader:
        total, state = 0.0, None
        for _ in range(accumulation_steps):
            # trap: each turn goes on from the one before
            out, state = model(x, state)
            total = total + F.cross_entropy(out, y)
        total.backward()
        optimizer.step()
        optimizer.zero_grad()
