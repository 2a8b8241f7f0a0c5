def train(model, loader, optimizer):
    model.cuda()
    for x in loader:
        optimizer.zero_grad()
        outputs = model(x.cuda())
        model.loss_function(x, *outputs).backward()
        optimizer.step()
        yield model.mse.item(), model.penalty.item()  # expect: PLM029


def scaled(model, loader, optimizer, note):
    model.cuda()
    for x in loader:
        optimizer.zero_grad()
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        note(loss.item(), model.scale.exp().item())  # expect: PLM029


def seldom(model, loader, optimizer, history, note):
    model.cuda()
    for x in loader:
        optimizer.zero_grad()
        model(x.cuda()).mean().backward()
        optimizer.step()
        # trap: who knows what it keeps
        note(history.last.item(), history.best.item())
    # trap: after the training
    return model.mse.item(), model.penalty.item()
