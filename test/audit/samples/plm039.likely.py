import torch

from frames import read


class ClipFolder:
    def __init__(self, paths, opt):
        self.paths, self.device = paths, opt.device
        # trap: all of them at once, before there are workers
        self.mean = torch.zeros(3).to(self.device)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return self.opened(self.paths[at]).cuda()  # expect: PLM039

    def opened(self, path):
        return torch.as_tensor(read(path)).to(self.device)  # likely: PLM039


class Normalize:
    def __init__(self, mean):
        self.mean = mean

    def __call__(self, frames):
        return (frames.cuda() - self.mean) / 255  # likely: PLM039


class PrefetchLoader:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for frames in self.loader:
            # trap: a batch, in the training process
            yield frames.cuda(non_blocking=True)
