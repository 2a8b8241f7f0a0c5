import torch


@torch.no_grad()
def evaluate(model, batches, args):
    model.eval()
    step, rows = 0, []
    while step < args.eval_iters:
        step += 1
        rows.append(model(next(batches).cuda()))  # expect: PLM003
    return torch.cat(rows).argmax(-1)


@torch.no_grad()
def evaluate_on_host(model, batches, args):
    model.eval()
    step, rows = 0, []
    while step < args.eval_iters:
        step += 1
        # trap: copied to the host
        rows.append(model(next(batches).cuda()).cpu())
    return torch.cat(rows).argmax(-1)


@torch.no_grad()
def draw(model, start, length):
    model.eval()
    rows = [start.cuda()]
    # trap: each turn goes on from the one before, of one batch
    while len(rows) < length:
        rows.append(model(rows[-1]))
    return torch.cat(rows)


def show(trainer, test_loader):
    kept = []
    for x, _ in test_loader:
        loss, recon = trainer.eval(x.cuda())
        kept.append(recon)  # expect: PLM003
    return torch.cat(kept)


def glance(trainer, test_loader, wanted):
    kept = []
    for x, _ in test_loader:
        loss, recon = trainer.eval(x.cuda())
        # trap: a handful of batches
        kept.append(recon)
        if len(kept) >= wanted:
            break
    return torch.cat(kept)


def measure(trainer, test_loader):
    kept = []
    for x, _ in test_loader:
        loss, recon = trainer.eval(x.cuda())
        # trap: a number
        kept.append(loss)
    return sum(kept)
