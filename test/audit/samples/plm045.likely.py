import torch

from layers import Layers


def update(net, optimizer, batches, seen):
    for batch in batches:
        loss = net(batch.cuda()).mean()
        loss.backward()
        optimizer.step()
        seen["losses"]["all"] = torch.cat([seen["losses"]["all"], loss.detach().view(1)])  # likely: PLM045
        # trap: each turn needs what came before it
        seen["text"]["ids"] = torch.cat([seen["text"]["ids"], net(seen["text"]["ids"].cuda())])
        # trap: another entry each turn
        seen[batch.name] = torch.cat([seen[batch.name], batch.cuda()])
    return seen


class Recurrent(Layers):
    def forward(self, x, states, masks):
        outputs = []
        for start in range(len(x)):
            # trap: a row of numbers, written out or not
            kept = (states * masks[start].view(1, -1, 1).repeat(self.depth, 1, 1)).contiguous()
            outputs.append(self.rnn(x[start], kept))
        return outputs
