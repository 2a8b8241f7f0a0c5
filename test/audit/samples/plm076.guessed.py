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
