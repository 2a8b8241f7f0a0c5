import torch


def train(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        evaluate(model, held_out)  # expect: PLM023


def cleared(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        # trap: cleared after each step
        evaluate(model, held_out)


def between(model, loader, held_out, optimizer, evaluate):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        optimizer.zero_grad()
        # trap: cleared before
        evaluate(model, held_out)


def none(model, loader, optimizer, save):
    for epoch in range(3):
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        # trap: no evaluation
        save(model)


@torch.no_grad()
def look(model, held_out):
    model.eval()
    scores = [model(x).mean() for x in held_out]
    model.train()
    return torch.stack(scores)


def freeze(model):
    model.backbone.eval()


def first(model, source, held_out, optimizer, steps):
    for step in range(steps):
        if step % 100 == 0:
            look(model, held_out)  # expect: PLM023
        optimizer.zero_grad()
        model(next(source)).sum().backward()
        optimizer.step()


def epochs(model, loader, held_out, optimizer, count):
    for epoch in range(count):
        look(model, held_out)  # expect: PLM023
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()


def traps(model, teacher, policy, loader, held_out, optimizer, validate, only):
    for epoch in range(3):
        # trap: a teacher, and a part that is kept as it is
        teacher.eval()
        freeze(model)
        # trap: before there are gradients
        if epoch == 0:
            look(model, held_out)
        # trap: the training is over
        if only and epoch % 2 == 0:
            look(model, held_out)
            break
        for x in loader:
            # trap: this is the forward
            loss = policy.evaluate(x)
            optimizer.zero_grad()
            loss.sum().backward()
            optimizer.step()


def swept(model, loader, held_out, optimizer, count):
    for epoch in range(count):
        # trap: cleared at the end of each epoch
        look(model, held_out)
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        optimizer.zero_grad()


class Averaged:
    def fit(self, loader):
        for step, x in enumerate(loader):
            self.optimizer.zero_grad()
            self.model(x).sum().backward()
            self.optimizer.step()
            # trap: copies weights, and runs no model
            self._eval_model_update(step)
            if step % 100 == 0:
                self.evaluate(step)  # expect: PLM023


def timed(model, loader, held_out, optimizer, evaluate, clock):
    for epoch in range(3):
        with clock("train"):
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
        evaluate(model, held_out)  # expect: PLM023


def guarded(model, loader, held_out, optimizer, evaluate, clock, report):
    for epoch in range(3):
        try:
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
        except RuntimeError as error:
            report(error)
        evaluate(model, held_out)  # expect: PLM023


def chosen(model, loader, held_out, optimizer, evaluate, train, test):
    if train:
        for x in loader:
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
    # trap: another program
    if test:
        evaluate(model, held_out)


def either(model, loader, held_out, optimizer, evaluate, clock, train):
    for epoch in range(3):
        if train:
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            continue
        # trap: not in a turn that trains
        evaluate(model, held_out)


def swept_after(model, loader, held_out, optimizer, evaluate, clock):
    for epoch in range(3):
        with clock("train"):
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            optimizer.zero_grad()
        # trap: cleared inside
        evaluate(model, held_out)


def branches(model, loader, other, held_out, optimizer, evaluate, plain):
    for epoch in range(3):
        if plain:
            for x in loader:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
        else:
            for x in other:
                optimizer.zero_grad()
                model(x).mean().backward()
                optimizer.step()
        evaluate(model, held_out)  # expect: PLM023
