import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, backbone: nn.Module):
        super().__init__()
        self.backbone = backbone

    def forward(self, query):
        return self.encode(query) if self.training else self.simple_test(query)

    def encode(self, query):
        raise NotImplementedError

    def simple_test(self, query):
        raise NotImplementedError

    def describe(self, query):
        raise NotImplementedError


class Dense(Encoder):
    def encode(self, query):
        states = self.backbone(**query, return_dict=True, output_hidden_states=True)  # expect: PLM047
        states = states.hidden_states[-1]
        return states[:, 0]

    def simple_test(self, query):
        # trap: it does not train there
        states = self.backbone(**query, return_dict=True, output_hidden_states=True)
        states = states.hidden_states[-1]
        return states[:, 0].cpu()

    def describe(self, query):
        # trap: the base asks for it nowhere
        states = self.backbone(**query, return_dict=True, output_hidden_states=True)
        states = states.hidden_states[-1]
        return states[:, -1]


class Mixed(Encoder):
    def encode(self, query):
        # trap: the layers are mixed
        states = self.backbone(**query, return_dict=True, output_hidden_states=True)
        states = states.hidden_states[-4:]
        return torch.stack(states).mean(0)


def train(model: Dense, loader, optimizer):
    for query in loader:
        loss = model(query).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
