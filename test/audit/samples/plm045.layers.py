import timm.models.vision_transformer
import torch


class Vision(timm.models.vision_transformer.VisionTransformer):
    def forward_features(self, x):
        rows = x.shape[0]
        x = self.patch_embed(x)
        first = self.cls_token.expand(rows, -1, -1)
        x = torch.cat((first, x), dim=1)
        x = x + torch.tile(self.pos_embed, (rows, 1, 1))  # expect: PLM045
        return self.norm(self.blocks(x))


class Film(torch.nn.Module):
    def frames(self, x):
        return x.flatten(0, 1)

    def forward(self, x, places):
        films = x.shape[0]
        x = self.frames(x)
        # trap: a place for each frame, laid one film after another
        x = x + places.repeat(films, 1, 1)
        return self.blocks(x)


class Joined(torch.nn.Module):
    def forward(self, x, other, places):
        rows = x.shape[0]
        x = torch.cat((x, other), dim=0)
        # trap: more rows than before, and a place for each
        x = x + places.repeat(rows, 1, 1)
        return self.blocks(x)


class Places(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(64, 8)
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x, rows):
        at = torch.arange(x.size(1), device=x.device)
        x = x + self.table(at).repeat(x.size(0), 1, 1)  # expect: PLM045
        # trap: as many dimensions as nobody knows
        x = x + self.table(rows).repeat(2, 1, 1)
        return self.layer(x)
