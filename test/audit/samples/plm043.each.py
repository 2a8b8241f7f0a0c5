import numpy as np
import torch

device = torch.device("cuda")


class Recall:
    def __init__(self, size):
        self.views = np.zeros([size, 8])
        self.gains = np.zeros(size)
        self.ends = np.zeros(size, dtype=np.float32)

    def by_name(self, rows):
        drawn = dict(views=self.views[rows], gains=self.gains[rows])
        return {name: torch.as_tensor(part, device=device).float() for name, part in drawn.items()}  # expect: PLM043

    def in_turn(self, rows):
        sent = []
        for part in (self.views[rows], self.ends[rows]):
            sent.append(torch.from_numpy(part).to(device))  # expect: PLM043
        return sent

    def cast(self, rows):
        drawn = dict(views=self.views[rows], gains=self.gains[rows])
        # trap: cast on the way
        return {name: torch.as_tensor(part, dtype=torch.float32, device=device) for name, part in drawn.items()}

    def narrow(self, rows):
        drawn = dict(ends=self.ends[rows])
        # trap: float32 as it is kept
        return {name: torch.as_tensor(part, device=device) for name, part in drawn.items()}

    def unknown(self, drawn):
        # trap: nobody here says what it holds
        return {name: torch.as_tensor(part, device=device) for name, part in drawn.items()}

    def on_host(self, rows):
        drawn = dict(views=self.views[rows], gains=self.gains[rows])
        # trap: stays on the host
        return {name: torch.as_tensor(part) for name, part in drawn.items()}
