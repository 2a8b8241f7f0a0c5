from torch import nn


class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net, self.hidden, self.hook_registered = net, {}, False

    def _hook(self, _, inputs, output):
        self.hidden[0] = output

    def _register(self):
        # trap: once, and the flag says so
        handle = self.net[0].register_forward_hook(self._hook)
        self.hook_registered = True

    def forward(self, x):
        if not self.hook_registered:
            self._register()
        return self.net(x), self.hidden.pop(0)
