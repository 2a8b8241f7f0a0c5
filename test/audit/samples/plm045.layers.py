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
