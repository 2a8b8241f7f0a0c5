"""What helpers encode without gradients, under settings, and by methods of one's own."""

import torch
import torch.nn.functional as F
from torch import nn
from transformers import AutoTokenizer, CLIPTextModel


def encode_nothing(tokenizer, encoder, count, device):
    ids = tokenizer([""] * count, padding="max_length", return_tensors="pt").input_ids
    with torch.no_grad():
        return encoder(ids.to(device))[0]


def encode_words(tokenizer, encoder, words, device):
    ids = tokenizer(words, padding="max_length", return_tensors="pt").input_ids
    with torch.no_grad():
        return encoder(ids.to(device))[0]


def train(net, loader, name, args):
    tokenizer = AutoTokenizer.from_pretrained(name)
    encoder = CLIPTextModel.from_pretrained(name).cuda()
    encoder.requires_grad_(False)
    optimizer = torch.optim.AdamW(net.parameters())
    for x, words, noise in loader:
        x = x.cuda()
        empty = encode_nothing(tokenizer, encoder, args.batch_size, x.device)  # expect: PLM080
        # trap: of the batch
        given = encode_words(tokenizer, encoder, words, x.device)
        loss = F.mse_loss(net(x, given - empty), noise.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_chosen(net, loader, name, args, dataset):
    tokenizer = AutoTokenizer.from_pretrained(name)
    encoder = CLIPTextModel.from_pretrained(name).cuda()
    optimizer = torch.optim.AdamW(net.parameters())

    def embed(words):
        with torch.no_grad():
            return encode_words(tokenizer, encoder, words, "cuda")

    for x, words, noise in loader:
        if not dataset.own_words and not args.train_encoder:
            told = embed(args.instance_prompt)  # expect: PLM080
        else:
            # trap: of the batch
            told = embed(words)
        loss = F.mse_loss(net(x.cuda(), told), noise.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, 64), nn.Tanh())
        self.head = nn.Linear(64, 4)

    def logits_of(self, states):
        return self.head(self.trunk(states))

    def get_action(self, states):
        return torch.distributions.Categorical(logits=self.logits_of(states)).sample()


def improve(states, actions, path, rounds, size):
    policy = Policy().cuda()
    prior = Policy().cuda()
    prior.load_state_dict(torch.load(path, map_location="cuda"))
    prior.eval()
    optimizer = torch.optim.Adam(policy.parameters())
    for _ in range(rounds):
        for start in range(0, len(states), size):
            part = slice(start, start + size)
            with torch.no_grad():
                all_before = prior.logits_of(states)  # expect: PLM080
                # trap: of this part alone
                before = prior.logits_of(states[part])
                # trap: drawn anew
                drawn = prior.get_action(states)
            now = policy.logits_of(states[part])
            loss = F.cross_entropy(now, actions[part]) + F.mse_loss(now, all_before[part] + before)
            loss = loss + F.cross_entropy(now, drawn[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
