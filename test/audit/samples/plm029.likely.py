import torch
import torch.nn.functional as F


def train(net, loader, optimizer, names):
    net.cuda()
    for x, y in loader:
        y = y.cuda()
        scores = net(x.cuda())
        loss = F.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        shares = [scores[y == c].mean().item() for c in range(10)]  # expect: PLM029
        for c in range(10):
            shares[c] += (y == c).sum().item()  # likely: PLM029
        for c in range(10):
            # trap: the next turn has to know it
            left = (y == c).sum().item()
            if left == 0:
                break
        # trap: no read
        wide = [scores[c].float() for c in range(10)]
        if len(wide) > 3 and len(shares) % 100 == 0:
            # trap: now and then
            shares = [scores[y == c].max().item() for c in range(10)]


class Shared:
    def __init__(self, params):
        for p in params:
            state = self.state[p]
            state["step"] = torch.zeros(1)

    def train_step(self, params, batch, groups, device):
        for p in params:
            state = self.state[p]
            # trap: it was made on the host, and stays there
            groups.append(state["step"].item())
        index = batch["index"]
        # trap: sent below, so that it is on the host
        groups = [(index == i).sum().item() for i in range(8)]
        return index.to(device), groups

    def train_batch(self, loss):
        if torch.is_tensor(loss):
            # trap: of the two one is run
            return float(loss.detach())
        return float(loss)


class Told:
    def get_current_losses(self):
        # trap: whoever shows them asks for them, now and then
        return {name: float(getattr(self, "loss_" + name)) for name in self.names}
