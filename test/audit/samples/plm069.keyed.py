import torch
import torch.nn.functional as F


class Told:
    def __init__(self, board):
        self.board = board

    def log(self, key, value, step, n=1):
        if type(value) == torch.Tensor:
            value = value.item()
        self.board.append((key, value / n, step))


class Agent:
    def __init__(self, net, target):
        self.net, self.target = net.cuda(), target
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def update(self, batches, L, step, every=100):
        x, y = next(batches)
        loss = F.mse_loss(self.net(x.cuda()), y.cuda())
        L.log("train/loss", loss, step)  # likely: PLM069
        if step % every == 0:
            # trap: now and then
            L.log("train/rare", loss, step)
        # trap: a number
        L.log("train/target", self.target, step)
        # trap: nothing is told under a name
        L.log(loss, step)
        # trap: nobody here has such a method
        L.keep("train/loss", loss, step)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def run(agent, batches, board):
    told = Told(board)
    for step in range(100000):
        agent.update(batches, told, step)
