import torch
import torch.nn as nn


class Speaker(nn.Module):
    def __init__(self, cell, width):
        super().__init__()
        self.cell = cell
        self.width = width

    def forward(self, words, forced):
        said = words.new_zeros(words.size(0), 0, self.width)
        for t in range(words.size(1)):
            word = words[:, t]
            if t >= 1 and self.training and not forced:
                word = said[:, t - 1].argmax(-1)
            said = torch.cat([said, self.cell(word).unsqueeze(1)], 1)  # expect: PLM045
        return said

    def counted(self, words):
        said = words.new_zeros(0, self.width)
        for t, word in enumerate(words):
            last = said[t - 1] if t > 0 else word
            said = torch.cat([said, self.cell(last)[None]])  # expect: PLM045
        return said

    def attend(self, words):
        said = words.new_zeros(words.size(0), 0, self.width)
        for t in range(words.size(1)):
            # trap: all that was said so far
            seen = said[:, :t].mean(1)
            said = torch.cat([said, self.cell(seen).unsqueeze(1)], 1)
        return said

    def across(self, words):
        said = words.new_zeros(words.size(0), 0, self.width)
        for t in range(words.size(1)):
            # trap: another axis than the one that grows, so that all of it is read
            row = said[t - 1]
            said = torch.cat([said, self.cell(row.mean(0)).unsqueeze(1)], 1)
        return said
