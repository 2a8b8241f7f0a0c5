"""A table of a few numbers for each kind, beside the examples."""

import torch


class Species(torch.utils.data.Dataset):
    def __init__(self, species, chromosomes, rows):
        self.species = species
        self.chromosomes = chromosomes
        self.rows = [(row, len(row)) for row in rows]  # expect: PLM041
        self.chromosome_weights = {}
        for spec in species:
            # trap: one number for each chromosome
            self.chromosome_weights[spec] = [len(one) for one in chromosomes[spec]]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        spec = self.species[index % 2]
        row, length = self.rows[index]
        return torch.tensor(row), length, sum(self.chromosome_weights[spec])


def train(net, species, chromosomes, rows, optimizer):
    data = Species(species, chromosomes, rows)
    for x, _, _ in torch.utils.data.DataLoader(data, num_workers=4):
        net(x).mean().backward()
        optimizer.step()
