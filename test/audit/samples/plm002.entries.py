"""Lists under keys of what a function is handed."""

from torch.nn import functional as F


def fit(net, loader, optimizer, state):
    for x, y in loader:
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state.setdefault("losses", []).append(loss)  # expect: PLM002
        # trap: a number
        state["numbers"].append(loss.item())


def terms(net, parts, found):
    for part in parts:
        # trap: nothing is differentiated here: who asked for them adds them up
        found["terms"].append(F.mse_loss(net(part), part))
    return found
