import torch
from diffusers import StableDiffusionPipeline


def train(name, groups, opt, device):
    pipe = StableDiffusionPipeline.from_pretrained(name)
    pipe.text_encoder.requires_grad_(False)
    for group in groups:
        blank = pipe.text_encoder(  # expect: PLM080
            pipe.tokenizer([""], return_tensors="pt", padding="max_length").input_ids.to(device)
        )[0]
        # trap: what each of them says
        said = pipe.text_encoder(pipe.tokenizer(group["words"], return_tensors="pt").input_ids.to(device))[0]
        for j in range(20):
            loss = pipe.unet(group["x"][:, j], j, torch.cat([blank, said])).sample.mean()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(pipe.unet.parameters(), 1.0)
            opt.step()
            opt.zero_grad()


def train_both(name, groups, device):
    pipe = StableDiffusionPipeline.from_pretrained(name)
    opt = torch.optim.AdamW([*pipe.unet.parameters(), *pipe.text_encoder.parameters()])
    for group in groups:
        # trap: it learns too
        blank = pipe.text_encoder(
            pipe.tokenizer([""], return_tensors="pt", padding="max_length").input_ids.to(device)
        )[0]
        for j in range(20):
            loss = pipe.unet(group["x"][:, j], j, blank).sample.mean()
            loss.backward(retain_graph=True)
            opt.step()
            opt.zero_grad()
