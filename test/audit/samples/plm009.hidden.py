import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self, num_users, word_dim, width):
        super().__init__()
        self.users = nn.Linear(num_users, width)
        self.items = nn.Embedding(word_dim, width)
        self.head = nn.Linear(width, word_dim)

    def forward(self, users):
        return self.head(self.users(users))


def train(users, items, loader):
    model = Policy(users, items, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for user, chosen in loader:
        optimizer.zero_grad()
        # trap: a width, not how many there are
        output = model(user.cuda())
        loss = criterion(output, chosen.cuda())
        loss.backward()
        optimizer.step()
