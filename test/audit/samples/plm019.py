import torch


def evaluate(model, loader, device):
    model.eval()
    correct = 0
    for x, y in loader:
        logits = model(x.to(device))  # expect: PLM019
        correct += (logits.argmax(-1) == y.to(device)).sum()
    return correct


def check_behaviour(model):
    for name, module in model.named_modules():
        coeffs = module.weight
        deviation = (coeffs - 1.0).abs().mean().item()  # expect: PLM019
        print(name, deviation)


@torch.no_grad()
def decorated(model, loader):
    # trap: decorated
    model.eval()
    for x in loader:
        model(x)


def with_block(model, loader):
    # trap: a with statement
    model.eval()
    with torch.inference_mode():
        for x in loader:
            model(x)


def attack(model, loader, epsilon):
    # trap: adversarial examples need the graph
    model.eval()
    for x, y in loader:
        x.requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        grad = torch.autograd.grad(loss, x)[0]
        yield x + epsilon * grad.sign()


def helper(model, loader):
    # trap: its only caller has switched gradients off
    model.eval()
    for x in loader:
        model(x)


def caller(model, loader):
    with torch.no_grad():
        helper(model, loader)


def back_to_training(model, loader, optimizer):
    model.eval()
    model.train()
    for x, y in loader:
        # trap: in train mode again
        loss = model(x).sum()
        loss.backward()
        optimizer.step()


def smart_inference_mode():
    return torch.inference_mode()


@smart_inference_mode()
def decorated_by_our_own(model, loader):
    # trap: a decorator of the project's own that may switch gradients off
    model.eval()
    for x in loader:
        model(x)


def validate_nested(model, loaders):
    def run(loader):
        return [model(x.cuda()) for x in loader]  # expect: PLM019

    model.eval()
    return [run(loader) for loader in loaders]


def rewards(reward_model, samples):
    reward_model.eval()
    reward_model.requires_grad_(False)

    def run():
        # trap: frozen, it records nothing
        return [reward_model(sample.cuda()) for sample in samples]

    return run()


def evaluate_with_two(model, loader, accelerator):
    model.eval()
    for x in loader:
        # trap: of the two the last one is entered
        with accelerator.accumulate(model) and torch.no_grad():
            model(x.cuda())


def peek(model, batch):
    model.eval()

    def one(x):
        # trap: a single run, for a look
        return model(x.cuda())

    return one(batch).argmax(1)


def scored(model, loader):
    model.eval()

    @torch.no_grad()
    def one(x):
        # trap: nothing is recorded in there
        return model(x.cuda())

    return [one(x).cpu() for x in loader]
