import os

from PIL import Image
from torch.utils.data import Dataset
from tqdm import tqdm


class Captions(Dataset):
    def __init__(self, rows, folder, preprocess):
        for at, row in enumerate(tqdm(rows)):
            picture = Image.open(os.path.join(folder, row["file"])).convert("RGB")
            row["pixels"] = preprocess(picture)  # expect: PLM040
        self.rows = rows

    def __getitem__(self, at):
        return self.rows[at]["pixels"]


class Named(Dataset):
    def __init__(self, rows, folder, tokenizer):
        for row in rows:
            # trap: where it is, which is short
            row["path"] = os.path.join(folder, row["file"])
            # trap: how long it is
            row["length"] = len(tokenizer(row["caption"]))
        self.rows = rows

    def __getitem__(self, at):
        return Image.open(self.rows[at]["path"])


class Checked(Dataset):
    def __init__(self, rows, names, folder):
        for row in rows:
            # trap: the rows are not kept
            row["pixels"] = Image.open(os.path.join(folder, row["file"]))
            assert row["pixels"].mode == "RGB"
        self.names = names

    def __getitem__(self, at):
        return Image.open(self.names[at])
