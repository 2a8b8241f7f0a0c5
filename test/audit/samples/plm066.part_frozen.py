import torch
from torch import nn

from model import Model


class Net(nn.Module):
    def __init__(self, classes, path):
        super().__init__()
        self.f = Model().f
        self.fc = nn.Linear(2048, classes)
        self.load_state_dict(torch.load(path, map_location="cpu"), strict=False)

    def forward(self, x):
        return self.fc(torch.flatten(self.f(x), start_dim=1))


def train_val(net, loader, optimizer):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    model = Net(10, "model.pth").cuda()
    for param in model.f.parameters():
        param.requires_grad = False
    # trap: the part that does not learn is switched off
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)
    for epoch in range(100):
        train_val(model, Model.loader(), optimizer)
