import torch
from torch.distributions import Categorical, Normal

device = torch.device("cuda")


def train(model, loader, optimizer, strict):
    # trap: once
    prior = Normal(torch.zeros(1, device=device), torch.ones(1, device=device))
    for x, y in loader:
        policy = Categorical(logits=model(x))  # expect: PLM073
        # trap: not validated
        quiet = Categorical(logits=model(x), validate_args=False)
        # trap: decided elsewhere
        other = Categorical(logits=model(x), validate_args=strict)
        loss = -(policy.log_prob(y) + quiet.log_prob(y) + other.log_prob(y) + prior.log_prob(y)).mean()
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
