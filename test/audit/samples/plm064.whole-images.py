import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import to_tensor

torch.backends.cudnn.benchmark = True  # expect: PLM064


class Photos(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return to_tensor(Image.open(self.paths[at]).convert("RGB"))


# Each as large as it is, one at a time.
photos = DataLoader(Photos(["a.jpg"]), batch_size=1, num_workers=4)
