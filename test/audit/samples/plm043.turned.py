import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Maps(Dataset):
    def __init__(self, rows, transform=None, encode=None):
        self.rows = rows
        self.transform = transform
        self.encode = encode

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        field = np.clip(self.rows[at], 0, None).astype(np.float64)
        if field.max() > 0:
            field = field / field.max()
        field = torch.from_numpy(field).unsqueeze(0)
        if self.transform is not None:
            field = self.transform(field)
        code = torch.from_numpy(np.zeros(8))  # likely: PLM043
        if self.encode is not None:
            # trap: who knows what comes of that
            code = self.encode(field)
        return field, code, torch.tensor(at % 2, dtype=torch.float32)


def train(net, rows, crit, opt, device):
    loader = DataLoader(Maps(rows), batch_size=8, num_workers=4, pin_memory=True)
    net.to("cuda")
    for fields, codes, wanted in loader:
        fields = fields.to("cuda", non_blocking=True).float()  # expect: PLM043
        codes = codes.to("cuda", non_blocking=True).float()
        # trap: the labels are float32 already
        wanted = wanted.to("cuda", non_blocking=True).float()
        loss = crit(net(fields, codes), wanted)
        loss.backward()
        opt.step()
        opt.zero_grad()
