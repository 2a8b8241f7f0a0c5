import torch
from torch.nn import functional as F
from transformers import CLIPTextModel, CLIPTokenizer


def train(net, loader, optimizer):
    tokenizer = CLIPTokenizer.from_pretrained("words")
    reader = CLIPTextModel.from_pretrained("words").cuda()
    reader.requires_grad_(False)
    for batch in loader:
        noisy = batch["noisy"].cuda()
        empty = tokenizer("", padding="max_length", return_tensors="pt").input_ids.to(noisy.device)
        unsaid = reader(empty)[0]  # expect: PLM080
        # trap: cut to what this batch has
        part = tokenizer("", padding="max_length", return_tensors="pt").input_ids[: noisy.shape[0]]
        cut = reader(part.to(noisy.device))[0]
        # trap: other words in each batch
        ids = tokenizer(batch["words"], return_tensors="pt").input_ids.to(noisy.device)
        said = reader(ids)[0]
        loss = F.mse_loss(net(noisy, said, unsaid, cut), batch["noise"].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
