"""Several frozen encoders in one list, with and without one that learns."""

import torch
from transformers import CLIPTextModel, CLIPTokenizer


@torch.no_grad()
def encode_words(encoders, ids):
    return torch.cat([encoder(one)[0] for encoder, one in zip(encoders, ids)], dim=-1)


def encode_kept(encoders, ids):
    return torch.cat([encoder(one)[0] for encoder, one in zip(encoders, ids)], dim=-1)


def draw(unet, loader, name):
    tokenizer = CLIPTokenizer.from_pretrained(name)
    small = CLIPTextModel.from_pretrained(name).cuda()
    large = CLIPTextModel.from_pretrained(name).cuda()
    learner = CLIPTextModel.from_pretrained(name).cuda()
    small.requires_grad_(False)
    large.requires_grad_(False)
    optimizer = torch.optim.AdamW([*unet.parameters(), *learner.parameters()])
    blank = tokenizer("", return_tensors="pt").input_ids.cuda()
    soft = torch.nn.Parameter(torch.zeros(1, 77, 768, device="cuda"))
    encoders = [small, large]
    for batch in loader:
        one = encode_words([small, large], [blank, blank])  # expect: PLM080
        two = encode_kept(encoders, [blank, blank])  # expect: PLM080
        # trap: of the batch
        three = encode_words([small, large], [batch["ids"], blank])
        # trap: one of the two learns
        four = encode_kept([small, learner], [blank, blank])
        # trap: what they are given may learn
        five = encode_kept(encoders, [soft, soft])
        loss = unet(batch["x"], one + two + three + four + five).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
