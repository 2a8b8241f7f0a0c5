import torch
import torch.nn.functional as F


def train(model, text_encoder, prompts, loader, optimizer):
    model.train()
    text_encoder.eval()
    for x, y in loader:
        with torch.no_grad():
            text = text_encoder(prompts)  # expect: PLM080
            # trap: another input each time
            other = text_encoder(y)
        loss = F.mse_loss(model(x), text + other)
        loss.backward()
        optimizer.step()
    # trap: once
    return text_encoder(prompts)


def learns(model, anchor, loader, optimizer):
    model.train()
    for x in loader:
        # trap: the network changes from step to step
        loss = F.mse_loss(model(x), model(anchor))
        loss.backward()
        optimizer.step()


def score(logits, labels):
    found = []
    for at in range(len(labels)):
        logp = F.log_softmax(logits, dim=-1)  # expect: PLM080
        # trap: a row of its own
        row = F.log_softmax(logits[at], dim=-1)
        found.append(logp[at, labels[at]] + row[labels[at]])
    return torch.stack(found)


def changed(logits, steps):
    for at in range(steps):
        # trap: written to in the loop
        p = torch.softmax(logits, dim=-1)
        logits[at] = p[at]
    return logits


def fades(vgg, net, noise, real, args, optimizer):
    vgg.eval().requires_grad_(False)
    for step in range(args.steps):
        weight = max(0.0, 1.0 - step / args.fade)
        loss = F.mse_loss(net(noise), real)
        if weight > 0.9:
            # trap: a schedule decides
            loss = loss + weight * F.mse_loss(vgg(net(noise)), vgg(real))
        loss.backward()
        optimizer.step()
