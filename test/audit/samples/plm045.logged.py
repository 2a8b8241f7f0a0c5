import torch


def fit(network, loader, optimizer, writer, every):
    network.cuda()
    seen = torch.empty(0, device="cuda")
    recent = torch.empty(0, device="cuda")
    bank = torch.empty(0, 8, device="cuda")
    for step, x in enumerate(loader):
        out = network(x.cuda())
        # trap: each turn reads the whole
        loss = out.mean() + (out @ bank.T).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen = torch.cat([seen, out.detach().mean(-1)])  # expect: PLM045
        # trap: it begins again wherever it has been read
        recent = torch.cat([recent, out.detach().mean(-1)])
        bank = torch.cat([bank, out.detach()])
        if step % every == 0:
            writer.add_scalar("seen", seen.mean(), step)
            writer.add_scalar("recent", recent.mean(), step)
            recent = torch.empty(0, device="cuda")
