"""Batches that pass through functions which others call."""

import torch
from torch.utils.data import DataLoader
from tqdm import tqdm


def pinned(rows, shuffle):
    return DataLoader(rows, batch_size=8, shuffle=shuffle, num_workers=4, pin_memory=True)


def both(train_rows, test_rows):
    first = pinned(train_rows, True)
    second = pinned(test_rows, False)
    return first, second


class Unpacking(torch.nn.Module):
    def parse_batch(self, batch):
        images, labels = batch
        labels = labels.contiguous().cuda()  # expect: PLM037
        return images.cuda(), labels  # expect: PLM037

    # trap: of an evaluation, whose loader is another
    def parse_for_test(self, batch):
        return batch[0].cuda()

    # trap: who calls it has no batch
    def embed(self, table):
        return table.cuda()


def preparing(scale):
    def preprocess(x):
        return x[0].cuda().float().mul_(scale)  # expect: PLM037

    # trap: it waits for nothing
    def prepare(x):
        return x[0].cuda(non_blocking=True)

    return preprocess, prepare


def train(net, rows, optimizer, device):
    batches, _ = both(rows, rows)
    with tqdm(range(len(batches))) as bar:
        for step, (images, labels) in zip(bar, batches):
            images = images.to(device="cuda")  # expect: PLM037
            loss = net(images).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def compare(net, rows, others, optimizer):
    batches, _ = both(rows, rows)
    # of what the other one hands out nothing is known
    for images, (extra, _) in zip(batches, others):
        loss = net(extra.to("cuda")).mean()  # likely: PLM037
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
