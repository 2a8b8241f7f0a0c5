from abc import ABC, abstractmethod

import numpy as np
import torch

device = torch.device("cuda")


class Picker(ABC):
    @abstractmethod
    def odds(self):
        """One for each level."""

    @abstractmethod
    def narrow(self):
        """One for each level, in the type of the network."""

    @abstractmethod
    def unknown(self):
        """Nobody here says."""

    def shares(self):
        odds = self.odds()
        return torch.from_numpy(odds / np.sum(odds)).to(device)  # expect: PLM043

    def others(self):
        # trap: one of the classes below gives float32
        return torch.from_numpy(self.narrow() / 2).to(device)

    def given(self):
        # trap: no class of this file says
        return torch.from_numpy(self.unknown() / 2).to(device)


class Even(Picker):
    def __init__(self, levels):
        self.even = np.ones([levels])

    def odds(self):
        return self.even

    def narrow(self):
        return np.ones([10], dtype=np.float32)


class Lately(Picker):
    def __init__(self, levels):
        self.seen = np.zeros([levels, 10])

    def odds(self):
        return np.sqrt(np.mean(self.seen**2, axis=-1))

    def narrow(self):
        return np.ones([10])
