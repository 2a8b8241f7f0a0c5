import torch


def measured(model, loader):
    model.eval()
    for batch in loader:
        print(model.loss(batch).item())  # expect: PLM019


def compared(model, loader):
    model.eval()
    for x, y in loader:
        with torch.no_grad():
            out = model(x)
        # trap: only compares what was computed without a graph
        print(model.loss(out, y).item())


class Quiet(torch.nn.Module):
    @torch.no_grad()
    def get_loss(self, batch):
        return self.layer(batch).mean()


def quiet(model, loader):
    model.eval()
    for batch in loader:
        # trap: a method of this name switches recording off itself
        print(model.get_loss(batch).item())
