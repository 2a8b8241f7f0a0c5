import torch.nn.functional as F


def train(model, loader, optimizer):
    model.train()
    for micro_batches in loader:
        optimizer.zero_grad()
        total = 0.0
        for x, y in micro_batches:
            loss = F.cross_entropy(model(x), y)
            total += loss  # expect: PLM005
        total.backward()
        optimizer.step()


def one_by_one(model, loader, optimizer):
    model.train()
    for micro_batches in loader:
        for x, y in micro_batches:
            loss = F.cross_entropy(model(x), y)
            # trap: one graph at a time
            loss.backward()
        optimizer.step()


def through_time(cell, sequence, targets, optimizer):
    cell.train()
    state, total = None, 0.0
    for x, y in zip(sequence, targets):
        out, state = cell(x, state)
        # trap: the steps belong to one graph
        total += F.mse_loss(out, y)
    total.backward()
    optimizer.step()


def heads(model, x, targets, optimizer):
    model.train()
    outs = model(x)
    total = 0.0
    for out, y in zip(outs, targets):
        # trap: one forward, several losses
        total += F.cross_entropy(out, y)
    total.backward()
    optimizer.step()


def decoder(encoder, decoder, x, targets, optimizer):
    encoder.train()
    decoder.train()
    memory = encoder(x)
    total = 0.0
    for y in targets:
        # trap: they share the encoder's graph
        total += F.mse_loss(decoder(y, memory), y)
    total.backward()
    optimizer.step()
