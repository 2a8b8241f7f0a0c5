import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


class Solver:
    def __init__(self, net):
        self.net = net.cuda()
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def learn(self, clip):
        for frame in clip.unbind(1):
            loss = self.net(frame).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def learn_all(self, loader):
        for clip in loader:
            self.learn(clip)


def run(net, clips, sets):
    solver = Solver(net)
    loader = DataLoader(clips, batch_size=4)
    for epoch in range(10):
        for index, clip in enumerate(loader):
            solver.learn(clip)
            dist.barrier()  # expect: PLM071
        # trap: once an epoch
        dist.barrier()
    for name in sets:
        # trap: once for each set of clips, all of which it goes through
        solver.learn_all(DataLoader(sets[name], batch_size=4))
        dist.barrier()
    for index, clip in enumerate(loader):
        solver.learn(clip)
        if index % 100 == 0:
            # trap: now and then
            dist.barrier()
