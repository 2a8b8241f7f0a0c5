"""Where the number of micro-steps may be none, the loader may have no length, or the same key is quoted otherwise."""

import torch


def optional(model, loader, optimizer, parts=None):
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()  # expect: PLM065, by hand
        if not parts or step % parts == 0:
            optimizer.step()
            optimizer.zero_grad()


def quoted(model, loader, optimizer, config):
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        # trap: by the same number
        loss = loss / config["parts"]
        loss.backward()
        if (step + 1) % config['parts'] == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()


def endless(model, batches, optimizer, parts):
    for step, (x, y) in enumerate(batches):
        (torch.nn.functional.cross_entropy(model(x), y) / parts).backward()
        if (step + 1) % parts == 0:  # expect: PLM065, by hand
            optimizer.step()
            optimizer.zero_grad()


def of_dataset(model, data, optimizer, parts):
    loader = torch.utils.data.DataLoader(data, batch_size=8)
    for step, (x, y) in enumerate(loader):
        # trap: divided
        (torch.nn.functional.cross_entropy(model(x), y) / parts).backward()
        if (step + 1) % parts == 0:  # expect: PLM065
            optimizer.step()
            optimizer.zero_grad()


def whole(model, loader, optimizer, parts):
    for step, (x, y) in enumerate(loader):
        (torch.nn.functional.cross_entropy(model(x), y) / parts).backward()
        # trap: what is left is stepped with as well
        if (step + 1) % parts == 0 or step + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
