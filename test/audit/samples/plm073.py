import torch
from torch.distributions import Categorical, Normal

device = torch.device("cuda")


def train(model, loader, optimizer, strict):
    # trap: its arguments are tested once; what it is asked in the step is told there
    prior = Normal(torch.zeros(1, device=device), torch.ones(1, device=device))
    for x, y in loader:
        policy = Categorical(logits=model(x))  # expect: PLM073
        # trap: not validated
        quiet = Categorical(logits=model(x), validate_args=False)
        # trap: decided elsewhere
        other = Categorical(logits=model(x), validate_args=strict)
        loss = -(policy.log_prob(y) + quiet.log_prob(y) + other.log_prob(y) + prior.log_prob(y)).mean()  # expect: PLM073
        loss.backward()
        optimizer.step()


def chosen(model, loader, optimizer, continuous, families):
    family = Normal if continuous else Categorical
    other = families[0]
    for x, y in loader:
        policy = family(*model(x))
        one = family(model(x), 1.0)  # expect: PLM073
        # trap: nobody says what it is
        two = other(model(x))
        loss = -(policy.log_prob(y) + one.log_prob(y) + two.log_prob(y)).mean()
        loss.backward()
        optimizer.step()


class Bounded(Normal):
    def __init__(self, loc, scale, low):
        super().__init__(loc, scale)  # expect: PLM073
        self.low = low


class Quiet(Normal):
    def __init__(self, loc, scale):
        # trap: not validated
        super().__init__(loc, scale, validate_args=False)


class Unbound(Normal):
    arg_constraints = {}

    def __init__(self, loc, scale):
        # trap: nothing to validate
        super().__init__(loc, scale)


class Prior(Normal):
    def __init__(self, loc, scale):
        # trap: made once
        super().__init__(loc, scale)


class Named(Categorical):
    def best(self):
        return self.logits.argmax(-1)


def own(model, loader, optimizer):
    prior = Prior(torch.zeros(1, device=device), torch.ones(1, device=device))
    for x, y in loader:
        one = Bounded(model(x), model(x).exp(), 0.0)
        two = Quiet(model(x), model(x).exp())
        three = Unbound(model(x), model(x).exp())
        four = Named(logits=model(x))  # expect: PLM073
        # trap: not validated
        five = Named(logits=model(x), validate_args=False)
        parts = [one, two, three, four, five, prior]
        loss = -sum(part.log_prob(y) for part in parts).mean()
        loss.backward()
        optimizer.step()
