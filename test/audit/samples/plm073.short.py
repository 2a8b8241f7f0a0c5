from blocks import *


def fit(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        mean, spread = model(x.cuda())
        # `t` is torch in the file whose names are all taken
        shape = t.distributions.Normal(mean, spread)  # expect: PLM073
        # trap: not validated
        other = t.distributions.Normal(mean, spread, validate_args=False)
        # trap: of another library
        third = th.distributions.Normal(mean, spread)
        loss = -shape.log_prob(y.cuda()).mean() - other.entropy().mean() + third.mean
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


th = object()
