import torch


def train(model, criterion, loader, optimizer, config):
    model.cuda()
    for step, parts in enumerate(loader):
        due = config.log_every > 0 and not (step % config.log_every)
        for x, y in parts:
            loss = criterion(model(x.cuda()), y.cuda())
            loss.backward()
            if due:
                # trap: decided before the loop of micro-batches
                print(loss.item())
        optimizer.step()
