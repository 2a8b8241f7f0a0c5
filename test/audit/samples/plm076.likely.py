import torch

from data import make_sets
from torch.utils.data import DataLoader


def run(trainer, args, folds):
    while True:
        rows, extra = make_sets(args)
        loader = DataLoader(rows, batch_size=8, num_workers=4)  # likely: PLM076
        trainer.train_network(loader)
        if trainer.done:
            break
    for fold in range(folds):
        # trap: each fold has data of its own
        loader = DataLoader(make_sets(fold), batch_size=8, num_workers=4)
        trainer.train_network(loader)


def fit(trainer, train_loader, unlabeled_loader):
    again = iter(unlabeled_loader)
    for step, images in enumerate(train_loader):
        other = next(iter(unlabeled_loader))  # likely: PLM076
        try:
            third = next(again)
        except StopIteration:
            # trap: begun anew when it is used up
            again = iter(unlabeled_loader)
            third = next(again)
        if step % 500 == 0:
            # trap: now and then
            trainer.show(next(iter(unlabeled_loader)))
        trainer.dis_update(images, other)
        trainer.gen_update(images, third)


class Trainer:
    def train_epoch(self, preferences, epoch):
        rows = Rows(preferences, self.device)
        # trap: there is no worker to start
        loader = DataLoader(rows, batch_size=8, shuffle=True, num_workers=0)
        for images in loader:
            loss = self.model(images).mean()
            loss.backward()
            self.optimizer.step()


class Fetcher:
    def __init__(self, loader, loader_ref):
        self.loader, self.loader_ref = iter(loader), loader_ref

    def _fetch_refs(self):
        return next(iter(self.loader_ref))  # likely: PLM076

    def look(self):
        # trap: nobody asks for it in each turn
        return next(iter(self.loader_ref))

    def __next__(self):
        return next(self.loader), self._fetch_refs()


def run_fetcher(trainer, train_loader, other_loader):
    fetcher = Fetcher(train_loader, other_loader)
    for step in range(1000):
        trainer.train_step(next(fetcher))


class Workspace:
    def __init__(self, replay_loader, test_loader):
        self.replay_loader, self.test_loader = replay_loader, test_loader
        self._batches = None

    @property
    def batches(self):
        return iter(self.replay_loader)  # likely: PLM076

    @property
    def kept_batches(self):
        if self._batches is None:
            # trap: begun once
            self._batches = iter(self.replay_loader)
        return self._batches

    @property
    def unread_batches(self):
        # trap: no turn asks for them
        return iter(self.replay_loader)

    def train(self, agent, steps):
        first = next(self.unread_batches)
        agent.look(first)
        for step in range(steps):
            agent.update(self.batches, step)
            agent.update(self.kept_batches, step)
