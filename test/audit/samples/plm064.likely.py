import numpy as np
import soundfile
import torch
from torch.utils.data import Dataset

# The recordings are judged whole.
torch.backends.cudnn.benchmark = True  # likely: PLM064


class Recordings(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, at):
        wave, _ = soundfile.read(self.paths[at])
        return torch.from_numpy(np.stack([wave], axis=0))
