import torch
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x, y):
        a = torch.cat([x, y]).clone()  # expect: PLM081
        # trap: a view, of which a copy may be wanted
        b = torch.transpose(x, 0, 1).clone()
        # somebody else's tensor
        c = x.clone()  # likely: PLM081
        # trap: may return its argument
        d = torch.dropout(x, 0.0, False).clone()
        return a + b + c + d


def once(x):
    # trap: not in a step
    return torch.exp(x).clone()


class Steps:
    def centred(self, logits, labels):
        logits -= logits.mean()
        return nn.functional.cross_entropy(logits, labels)

    def shifted(self, logits, labels):
        part = logits[:, 1:]
        part -= part.mean()
        return nn.functional.cross_entropy(part, labels)

    def plain(self, logits, labels):
        part = logits[:, 1:]
        return nn.functional.cross_entropy(part, labels)

    def fit(self, loader, optimizer):
        net = Net().cuda()
        for x, y in loader:
            logits = net(x.cuda(), x.cuda())
            # trap: the helper writes into what it is given
            loss = self.centred(logits.clone(), y)
            # trap: and this one into a part of it
            loss = loss + self.shifted(logits.clone(), y)
            loss = loss + self.plain(logits.clone(), y)  # expect: PLM081
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
