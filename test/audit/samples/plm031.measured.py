import torch


def measure(model, x, repeats):
    for _ in range(repeats):
        # trap: what is measured next begins from nothing
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        model(x).sum().backward()


class Trainer:
    def _backup(self):
        # trap: nobody backs up on every step
        torch.cuda.empty_cache()

    def train(self, model, loader, optimizer):
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
            if self.due:
                self._backup()
            torch.cuda.empty_cache()  # expect: PLM031


def compare(model, loader, optimizer):
    torch.cuda.reset_peak_memory_stats()
    for step, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()
        # trap: the whole loop is measured
        torch.cuda.empty_cache()


def logged(model, loader, optimizer):
    for step, x in enumerate(loader):
        model(x).sum().backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: PLM031
        if step % 100 == 0:
            torch.cuda.reset_peak_memory_stats()
