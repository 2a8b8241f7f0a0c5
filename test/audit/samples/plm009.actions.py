import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, num_users, num_actions, width):
        super().__init__()
        self.users = nn.Embedding(num_users, width)
        self.items = nn.Embedding(num_actions, width)
        self.head = nn.Linear(width, num_actions)

    def forward(self, users):
        return self.head(self.users(users))


def train(users, items, loader):
    model = Policy(users, items, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for user, chosen in loader:
        optimizer.zero_grad()
        # trap: few of them
        output = model(user.cuda())
        loss = criterion(output, chosen.cuda())
        loss.backward()
        optimizer.step()
