import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter


def losses_of(net, judge, x):
    made = net(x)
    near, far = (made - x).abs().mean(), judge(made).mean()
    return near + far, {"near": near, "far": far}


def train(loader):
    net, judge = nn.Linear(8, 8).cuda(), nn.Linear(8, 1).cuda()
    optimizer = torch.optim.SGD([*net.parameters(), *judge.parameters()], 0.1)
    writer = SummaryWriter()
    for step, x in enumerate(loader):
        loss, parts = losses_of(net, judge, x.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        told = {"loss": loss, "rate": optimizer.param_groups[0]["lr"]}
        told.update({f"part/{k}": v for k, v in parts.items()})
        for name, value in told.items():
            writer.add_scalar(name, value, step)  # expect: PLM069
        for name, value in parts.items():
            writer.add_scalar(name, value, step)  # expect: PLM069
        rates = {"rate": optimizer.param_groups[0]["lr"], "step": step}
        for name, value in rates.items():
            # trap: numbers
            writer.add_scalar(name, value, step)
        if step % 100 == 0:
            for name, value in parts.items():
                # trap: now and then
                writer.add_scalar(name, value, step)
