import torch


def train(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            if step == 1 and epoch == 0:
                # trap: once in the whole training
                torch.cuda.empty_cache()
            if step % 10 == 0:
                torch.cuda.empty_cache()  # expect: PLM031
            loss = model(x.cuda(), y.cuda())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
