import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, num_users, num_items, width):
        super().__init__()
        self.users = nn.Embedding(num_users, width)
        self.items = nn.Embedding(num_items, width)
        self.head = nn.Linear(width, num_items)

    def forward(self, users):
        return self.head(self.users(users))


def train(users, items, loader):
    model = Recommender(users, items, 64).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for user, chosen in loader:
        optimizer.zero_grad()
        output = model(user.cuda())  # expect: PLM009
        loss = criterion(output, chosen.cuda())
        loss.backward()
        optimizer.step()
