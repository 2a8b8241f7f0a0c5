from registry import register
from torch.utils.data import Dataset


@register("rows")
class Rows(Dataset):
    def __init__(self, images, labels):
        self.samples = [{"image": x, "label": y} for x, y in zip(images, labels)]  # expect: PLM041

    def __getitem__(self, at):
        return self.samples[at]


class Loose(Dataset):
    # trap: nobody is seen making one
    def __init__(self, images, labels):
        self.samples = [{"image": x, "label": y} for x, y in zip(images, labels)]

    def __getitem__(self, at):
        return self.samples[at]
