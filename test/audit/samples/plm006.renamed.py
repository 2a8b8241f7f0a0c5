from torch import nn


class Remembering(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.memory = None

    def forward(self, tokens):
        memory = self.memory
        outputs = []
        for part in tokens.split(128, dim=1):
            out, memory = self.cell(part, memory)
            outputs.append(out)
        self.memory = memory  # expect: PLM006
        return outputs


class Forgetting(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.memory = None

    def forget(self):
        self.memory = None

    def forward(self, tokens):
        memory = self.memory
        out, memory = self.cell(tokens, memory)
        # trap: begun anew by whoever calls `forget`
        self.memory = memory
        return out


class Cutting(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell
        self.memory = None

    def forward(self, tokens):
        memory = self.memory
        out, memory = self.cell(tokens, memory)
        # trap: cut off
        memory = memory.detach()
        self.memory = memory
        return out
