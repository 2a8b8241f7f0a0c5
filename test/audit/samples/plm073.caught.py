import torch
from torch.distributions import Categorical


def train(net, loader, optimizer):
    net.cuda()
    for x in loader:
        weights = net(x.cuda())
        try:
            # What the validation raises is what is waited for.
            entropy = Categorical(probs=weights).entropy()  # expect: PLM073, by hand
        except ValueError:
            entropy = torch.zeros(len(x), device="cuda")
        try:
            sure = Categorical(logits=weights).entropy()  # expect: PLM073
        except KeyboardInterrupt:
            break
        # trap: asked for without
        plain = Categorical(probs=weights, validate_args=False).entropy()
        loss = (entropy + sure + plain).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
