"""Pictures are bytes, and lists that are written down make float32."""

import cv2
import torch
from torch import nn


def compared(folder, names):
    for name in names:
        true_pha = cv2.imread(folder + name, cv2.IMREAD_GRAYSCALE)
        # trap: bytes, made float32 where they are
        true_pha = torch.from_numpy(true_pha).cuda(non_blocking=True).float().div_(255)
        print(true_pha.mean())


class Head(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg

    def decode(self, center):
        post = self.cfg.POST
        # trap: of a list, which is float32 at once
        limits = torch.tensor(post.LIMIT_RANGE).cuda().float()
        post_range = post.RANGE
        # trap: the same by a name
        near = torch.tensor(post_range).cuda().float()
        return (center > limits) & (center > near)


def spread(rows, deltas):
    kept = torch.from_numpy(deltas).cuda().float()  # likely: PLM043
    return rows * kept
