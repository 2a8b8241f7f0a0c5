import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x, grads=False):
        loss = self.net(x.cuda()).sum()
        flat = None
        if grads:
            for p in self.parameters():
                if flat is None:
                    flat = p.grad.data.view(-1)
                else:
                    # trap: only where somebody asks for them (a note)
                    flat = torch.cat((flat, p.grad.data.view(-1)))  # expect: PLM045
        return loss, flat
