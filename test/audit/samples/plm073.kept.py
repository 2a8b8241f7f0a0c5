import torch
from torch.distributions import Normal


def train(net, loader, optimizer):
    net.cuda()
    prior = Normal(torch.zeros(8).cuda(), torch.ones(8).cuda())
    quiet = Normal(torch.zeros(8).cuda(), torch.ones(8).cuda(), validate_args=False)
    drawn = Normal(torch.zeros(8).cuda(), torch.ones(8).cuda())
    for x in loader:
        z = net(x.cuda())
        loss = -prior.log_prob(z).mean()  # expect: PLM073
        # trap: it tests nothing
        loss = loss - quiet.log_prob(z).mean()
        # trap: what is drawn is not tested
        loss = loss + (z - drawn.sample((len(z),))).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    # trap: once, at the end
    last = Normal(torch.zeros(8).cuda(), torch.ones(8).cuda())
    print(last.log_prob(z).mean())
