import torch


def model_function(model, train=False):
    def run(x, labels):
        if not train:
            model.eval()
            return model(x, labels)  # expect: PLM019, by hand
        else:
            model.train()
            return model(x, labels)

    return run


def evaluate(model, loader):
    model.eval()
    found = []
    for x, labels in loader:
        found.append(model(x.cuda(), labels.cuda()).argmax(-1).cpu())  # expect: PLM019
    model.train()
    return torch.cat(found)


def fit(model, loader, optimizer):
    score = model_function(model, train=True)
    for x, labels in loader:
        score(x.cuda(), labels.cuda()).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return evaluate(model, loader)
