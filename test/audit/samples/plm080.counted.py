import torch
from transformers import CLIPTextModel, CLIPTokenizer

tokenizer = CLIPTokenizer.from_pretrained("some/words")
text_encoder = CLIPTextModel.from_pretrained("some/words").cuda()
text_encoder.requires_grad_(False)


def train(unet, loader, optimizer):
    for batch in loader:
        latents = batch["latents"].cuda()
        count = latents.shape[0]
        nothing = tokenizer([""] * count, padding="max_length", return_tensors="pt").input_ids
        unsaid = text_encoder(nothing.cuda())[0]  # expect: PLM080
        bad = tokenizer(["blurry" for _ in range(count)], return_tensors="pt").input_ids.cuda()
        unwanted = text_encoder(bad)[0]  # expect: PLM080
        # trap: the first caption of this batch, for all of it
        first = tokenizer([batch["captions"][0]] * count, return_tensors="pt").input_ids
        meant = text_encoder(first.cuda())[0]
        # trap: each its own
        each = tokenizer([said.lower() for said in batch["captions"]], return_tensors="pt").input_ids
        said = text_encoder(each.cuda())[0]
        loss = unet(latents, said + meant - unsaid - unwanted).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
