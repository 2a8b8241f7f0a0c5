import torch

# trap: only the boxes are padded to the most of them, the pictures are stacked as they are
torch.backends.cudnn.benchmark = True


def collate_fn(batch):
    imgs, labels, paths = zip(*batch)
    imgs = torch.stack(imgs, 0)
    # trap: as many boxes as the fullest picture has
    most = max([one.shape[0] for one in labels])
    filled = torch.zeros(len(labels), most, 6)
    for row, one in enumerate(labels):
        filled[row, : one.shape[0]] = torch.from_numpy(one)
    # trap: pictures of one size
    return imgs, filled, paths


def load(data):
    return torch.utils.data.DataLoader(data, collate_fn=collate_fn)
