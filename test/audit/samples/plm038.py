import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(data, options, collate):
    a = DataLoader(data, batch_size=8)  # expect: PLM038
    b = DataLoader(data, batch_size=8, num_workers=0)  # expect: PLM038
    c = DataLoader(data, batch_size=8, pin_memory=True)  # expect: PLM038
    # trap: may be in the options
    d = DataLoader(data, **options)
    # trap: the collate function may put them on the device
    e = DataLoader(data, collate_fn=collate)
    f = DataLoader(data, num_workers=4)  # expect: PLM038
    # trap: has both
    g = DataLoader(data, num_workers=4, pin_memory=True)
    h = DataLoader(data, num_workers=4, pin_memory=False)  # expect: PLM038
    print(g, h)
    return a, b, c, d, e, f
