import torch


def train_one_epoch(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        if epoch == 1:
            # trap: once, when the shapes are known
            model = torch.compile(model)
        train_one_epoch(model, loader, optimizer)
        if epoch % 5 == 0:
            shown = torch.compile(model)  # expect: PLM062
            shown(torch.zeros(1, 3, 32, 32).cuda())
