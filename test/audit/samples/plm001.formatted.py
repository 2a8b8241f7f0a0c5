import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader


def train(args, io):
    model = torch.nn.Linear(3, 3).to("cuda")
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(args.epochs):
        train_loss = 0.0
        count = 0
        for data, label in DataLoader(args.train):
            data, label = data.to("cuda"), label.to("cuda")
            loss = F.cross_entropy(model(data), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            count += len(data)
            train_loss += loss * len(data)  # expect: PLM001
        outstr = "Train %d, loss: %.6f" % (epoch, train_loss * 1.0 / count)
        io.cprint(outstr)


TEMPLATE = "loss: %.6f"


def also(args, io, model, opt):
    total = 0.0
    for data, label in DataLoader(args.train):
        loss = F.cross_entropy(model(data.to("cuda")), label.to("cuda"))
        loss.backward()
        opt.step()
        total += loss  # expect: PLM001
    io.cprint(TEMPLATE % total)


# trap: the rest of a division is a tensor, and nobody knows what becomes of it
def rest(args, io, model):
    total = 0.0
    for data, label in DataLoader(args.train):
        total += F.cross_entropy(model(data.to("cuda")), label.to("cuda"))
    io.keep(total % 3)


# trap: differentiated beside the line that tells of it
def whole(args, io, model, opt):
    total = 0.0
    for data, label in DataLoader(args.train):
        total += F.cross_entropy(model(data.to("cuda")), label.to("cuda"))
    io.cprint("loss: %.6f" % total)
    total.backward()
    opt.step()
