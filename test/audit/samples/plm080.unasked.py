import argparse

import torch
from torch.nn import functional as F
from transformers import CLIPTextModel, CLIPTokenizer

parser = argparse.ArgumentParser()
parser.add_argument("--tune", action="store_true")
parser.add_argument("--keep", action="store_true")
args = parser.parse_args()


def frozen(net, loader):
    tokenizer = CLIPTokenizer.from_pretrained("words")
    reader = CLIPTextModel.from_pretrained("words")
    if not args.tune:
        reader.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.tune:
        reader.train()
    for batch in loader:
        empty = tokenizer("", padding="max_length", return_tensors="pt").input_ids.to("cuda")
        unsaid = reader(empty).last_hidden_state  # expect: PLM080
        loss = F.mse_loss(net(batch["noisy"].cuda(), unsaid), batch["noise"].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def asked(net, loader):
    tokenizer = CLIPTokenizer.from_pretrained("words")
    reader = CLIPTextModel.from_pretrained("words")
    # frozen only where somebody asks for it
    if args.keep:
        reader.requires_grad_(False)
    optimizer = torch.optim.SGD([*net.parameters(), *reader.parameters()], lr=0.1)
    if args.tune:
        reader.train()
    for batch in loader:
        empty = tokenizer("", padding="max_length", return_tensors="pt").input_ids.to("cuda")
        # trap: it learns
        unsaid = reader(empty).last_hidden_state
        loss = F.mse_loss(net(batch["noisy"].cuda(), unsaid), batch["noise"].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def always(net, loader):
    tokenizer = CLIPTokenizer.from_pretrained("words")
    reader = CLIPTextModel.from_pretrained("words")
    reader.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    # an adapter is put into it elsewhere
    reader.train()
    for batch in loader:
        empty = tokenizer("", padding="max_length", return_tensors="pt").input_ids.to("cuda")
        # trap: in training mode
        unsaid = reader(empty).last_hidden_state
        loss = F.mse_loss(net(batch["noisy"].cuda(), unsaid), batch["noise"].cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
