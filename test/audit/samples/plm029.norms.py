def train(model, loader, optimizer, writer):
    model.cuda()
    for step, x in enumerate(loader):
        optimizer.zero_grad()
        loss = model(x.cuda()).mean()
        loss.backward()
        norms = [p.grad.norm().item() for p in model.parameters()]  # expect: PLM029
        total = 0
        for p in model.parameters():
            norm = p.grad.detach().norm(2)
            total += norm.item() ** 2  # expect: PLM029
        writer.write(" ".join(f"{p.grad.abs().max().item():.3f}" for p in model.parameters()))  # expect: PLM029
        optimizer.step()
        writer.write(norms, total)
        if step % 1000 == 0:
            # trap: a few round trips in a thousand steps
            writer.write(loss.item(), model.scale.item())
        for p in model.parameters():
            # trap: the same number for each of them
            writer.write(p.shape, step.item())
