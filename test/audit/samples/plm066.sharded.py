"""Pretrained encoders that are wrapped under their own names, or run by a function that is handed them."""

import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModel


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)

    def forward(self, x, given):
        return self.body(x) + given


def shard(model):
    model = FSDP(model, use_orig_params=True)
    torch.cuda.synchronize()
    return model


def shard_frozen(model):
    model.requires_grad_(False)
    model = FSDP(model, use_orig_params=True)
    return model


def encode(captions, encoder, tokenizer):
    tokens = tokenizer(captions, return_tensors="pt")
    return encoder(input_ids=tokens.input_ids).last_hidden_state, tokens.attention_mask


def train_sharded(args, loader, device):
    model_lm = AutoModel.from_pretrained(args.lm)
    model_lm = shard(model_lm)
    model = shard(Net(args.width).to(device))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, fused=True)
    for x, captions in loader:
        given = model_lm(input_ids=captions.to(device)).last_hidden_state  # expect: PLM066
        loss = model(x.to(device), given).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train_with_frozen(args, loader, device):
    model_lm = AutoModel.from_pretrained(args.lm)
    model_lm = shard_frozen(model_lm)
    model = shard(Net(args.width).to(device))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, fused=True)
    for x, captions in loader:
        # trap: what wraps it has frozen it
        given = model_lm(input_ids=captions.to(device)).last_hidden_state
        loss = model(x.to(device), given).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train_by_helper(args, loader, tokenizer, device):
    encoder = AutoModel.from_pretrained(args.lm).cuda()
    model = Net(args.width).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, fused=True)
    for x, captions in loader:
        given, _ = encode(captions, encoder, tokenizer)  # expect: PLM066
        loss = model(x.to(device), given).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train_both(args, loader, tokenizer, device):
    encoder = AutoModel.from_pretrained(args.lm).cuda()
    model = Net(args.width).to(device)
    opt = torch.optim.AdamW([*model.parameters(), *encoder.parameters()], lr=args.lr, fused=True)
    for x, captions in loader:
        # trap: the optimizer has both
        given, _ = encode(captions, encoder, tokenizer)
        loss = model(x.to(device), given).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def train_wrapped(args, loader, device):
    model = AutoModel.from_pretrained(args.lm)
    model_without_ranks = model
    model = FSDP(model)
    opt = torch.optim.AdamW(model_without_ranks.parameters(), lr=args.lr, fused=True)
    for x, _ in loader:
        # trap: what is wrapped is what learns
        loss = model(input_ids=x.to(device)).last_hidden_state.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
