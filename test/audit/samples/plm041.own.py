"""Lists that a class keeps, and gives to a loader of its own."""

import json

import torch
from torch.utils.data import DataLoader


class Pairs:
    def setup(self, path):
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        self.learned = [self.encoded(row) for row in rows]  # expect: PLM041
        # trap: one tensor
        self.held_out = torch.tensor([row["number"] for row in rows])

    def encoded(self, row):
        return {"asked": row["asked"], "answered": row["answered"]}

    def loaders(self):
        return DataLoader(self.learned, num_workers=8), DataLoader(self.held_out, num_workers=8)
