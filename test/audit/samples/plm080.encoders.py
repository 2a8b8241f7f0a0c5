"""A frozen encoder of another object, on what `__init__` made once."""

import torch


class Trainer:
    def __init__(self, model, tokenizer, optimizer, device):
        self.model, self.optimizer = model, optimizer
        self.empty_ids = tokenizer([""], return_tensors="pt").input_ids.to(device)

    def train(self, loader):
        for ids in loader:
            self.train_one_step(ids)

    def train_one_step(self, ids):
        with torch.no_grad():
            empty = self.model.text_encoder(self.empty_ids)[0]  # expect: PLM080
            text = self.model.text_encoder(ids)[0]  # trap: of the batch
        loss = self.model(text, empty).mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def judged(net, loader, optimizer, prompts):
    clip_model = CLIP.from_pretrained("large").to("cuda")
    ema = CLIP.from_pretrained("large").to("cuda")
    for x in loader:
        with torch.no_grad():
            text = clip_model.encode_text(prompts)  # expect: PLM080
            # trap: follows another one in the loop
            other = ema.encode_text(prompts)
        loss = (net(x) - text - other).pow(2).mean()
        loss.backward()
        optimizer.step()
        ema.update(net)
