import soundfile
import torch
from torch.utils.data import DataLoader, Dataset

# trap: what is trained on is cut to one length
torch.backends.cudnn.benchmark = True


class Recordings(Dataset):
    def __init__(self, paths, segment_size):
        self.paths = paths
        self.segment_size = segment_size

    def __getitem__(self, at):
        wave, _ = soundfile.read(self.paths[at])
        # trap: always as long
        return self.cut(torch.from_numpy(wave), self.segment_size)


def loaders(paths, config):
    # trap: one at a time, for the validation
    return DataLoader(Recordings(paths, config.segment_size), batch_size=1)
