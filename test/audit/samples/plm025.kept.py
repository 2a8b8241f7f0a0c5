def train(model, loader, optimizer, history, note):
    model.cuda()
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
        note(model.penalty.item())  # expect: PLM025
        # trap: who knows what it keeps
        note(history.best.item())
