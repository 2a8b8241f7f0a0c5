from functools import lru_cache

import torch


@lru_cache(maxsize=128)  # expect: PLM013
def middle(x, height):
    top = (x.size()[2] - height) // 2
    return x[:, :, top : top + height]


@lru_cache(maxsize=8)  # expect: PLM013
def halves(maps):
    half = maps.size(-1) // 2
    return maps[..., :half], maps[..., half:]


@lru_cache(maxsize=8)  # expect: PLM013
def grid(maps):
    n, c, h, w = maps.size()
    return torch.arange(h * w)


# trap: the size of an image, which is found again under its path
@lru_cache(maxsize=8)
def ratio(picture):
    return picture.size[0] / picture.size[1]


# trap: one number, of whatever has so many
@lru_cache(maxsize=8)
def bytes_of(store):
    return store.size() // 1024


# trap: how long a text of this font would be
@lru_cache(maxsize=8)
def width(font, text):
    return font.size(text)[0]
