import torch

torch.backends.cudnn.benchmark = True  # expect: PLM064


def max_by_axis(shapes):
    most = shapes[0]
    for shape in shapes[1:]:
        most = [max(a, b) for a, b in zip(most, shape)]
    return most


def in_one(images):
    sides = max_by_axis([list(image.shape) for image in images])
    whole = torch.zeros([len(images), *sides])
    for image, place in zip(images, whole):
        place[:, : image.shape[1], : image.shape[2]].copy_(image)
    return whole


def collate(pairs):
    images, targets = zip(*pairs)
    return in_one(images), targets
