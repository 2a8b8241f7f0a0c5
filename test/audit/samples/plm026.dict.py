import torch.nn.functional as F
from tqdm import tqdm


def train(net, loader, optimizer, bar):
    net.to("cuda")
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.to("cuda")), y.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs = {
            "loss": loss.detach(),  # expect: PLM026
            "step": step,
        }
        bar.set_postfix(**logs)


def counted(net, loader, optimizer):
    net.to("cuda")
    bar = tqdm(loader)
    for step, (x, y) in enumerate(bar):
        loss = F.cross_entropy(net(x.to("cuda")), y.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs = dict(loss=loss)  # expect: PLM026
        bar.set_postfix(logs)


def seldom(net, loader, optimizer, bar):
    net.to("cuda")
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x.to("cuda")), y.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs = {"step": step}
        if step % 100 == 0:
            # trap: put in now and then
            logs["loss"] = loss.detach()
        bar.set_postfix(**logs)
        if step % 100 == 0:
            # trap: shown now and then
            kept = {"loss": loss.detach()}
            bar.set_postfix(**kept)
