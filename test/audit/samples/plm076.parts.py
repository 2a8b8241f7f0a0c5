from torch.utils.data import DataLoader
from tqdm import tqdm


def train(model, data, optimizer, steps):
    loader = DataLoader(data, batch_size=64, num_workers=4, pin_memory=True)
    for _ in tqdm(range(steps)):
        for loss, is_last in model(next(iter(loader)), parts=4):  # expect: PLM076
            loss.backward()
            if is_last:
                optimizer.step()
                optimizer.zero_grad()


def above(model, data, optimizer, steps):
    loader = DataLoader(data, batch_size=64, num_workers=4, pin_memory=True)
    for _ in tqdm(range(steps)):
        batch = next(iter(loader))  # expect: PLM076
        for part in batch.chunk(4):
            model(part.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def once(model, data, optimizer, steps):
    loader = DataLoader(data, batch_size=64, num_workers=4, pin_memory=True)
    # trap: one batch, taken once
    batch = next(iter(loader))
    for _ in tqdm(range(steps)):
        for part in batch.chunk(4):
            model(part.cuda()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
