"""Beside the steps, in the loop around theirs; and of a network that is only loaded."""

import copy

import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer


def learn(policy, batches, probe, optimizer, rounds):
    reference = copy.deepcopy(policy).eval().requires_grad_(False)
    for batch in batches:
        for _ in range(rounds):
            optimizer.zero_grad()
            policy(batch).mean().backward()
            optimizer.step()
        with torch.no_grad():
            wanted = F.log_softmax(reference(**probe).logits, dim=-1)  # expect: PLM080
            # trap: of what the steps change
            found = F.log_softmax(policy(**probe).logits, dim=-1)
            # trap: another input in each turn
            own = reference(batch)
        print((wanted - found).mean().item(), own.mean().item())


def follow(policy, batches, probe, optimizer, rounds, update_average):
    teacher = copy.deepcopy(policy).eval().requires_grad_(False)
    for batch in batches:
        for _ in range(rounds):
            optimizer.zero_grad()
            policy(batch).mean().backward()
            optimizer.step()
        update_average(teacher, policy)
        with torch.no_grad():
            # trap: it has other weights in each turn
            print(teacher(probe).mean().item())


def restart(policy, batches, probe, optimizer, rounds, turn):
    for batch in batches:
        reference = copy.deepcopy(policy).eval().requires_grad_(False)
        for _ in range(rounds):
            optimizer.zero_grad()
            policy(batch).mean().backward()
            optimizer.step()
        with torch.no_grad():
            # trap: made anew in each turn
            print(reference(probe).mean().item())


def encode_texts(texts, encoder, tokenizer):
    with torch.no_grad():
        ids = tokenizer(texts, return_tensors="pt", padding=True).input_ids
        return encoder(ids).last_hidden_state


def paint(model, loader, optimizer, shard, name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    encoder = AutoModel.from_pretrained(name)
    encoder = shard(encoder)
    print(type(encoder), encoder.config.hidden_size)
    for images, texts in loader:
        with torch.no_grad():
            # trap: other texts in each turn
            given = encode_texts(texts, encoder, tokenizer)
            empty = encode_texts([""], encoder, tokenizer)  # expect: PLM080
        optimizer.zero_grad()
        model(images, given - empty).mean().backward()
        optimizer.step()


def tune(model, loader, make_optimizer, name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    encoder = AutoModel.from_pretrained(name)
    optimizer = make_optimizer([*model.parameters(), *encoder.parameters()])
    for images, texts in loader:
        optimizer.zero_grad()
        # trap: it learns
        empty = encode_texts([""], encoder, tokenizer)
        model(images, empty).mean().backward()
        optimizer.step()
