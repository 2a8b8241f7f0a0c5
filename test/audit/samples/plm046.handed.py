"""Who cuts what it is given into chunks is handed the whole."""

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM


def chunked_cross_entropy(logits, targets, chunk_size=128):
    parts = zip(logits.split(chunk_size), targets.split(chunk_size))
    # trap: in pieces
    return torch.cat([F.cross_entropy(one.float(), wanted) for one, wanted in parts]).mean()


def train(name, loader, optimizer):
    model = AutoModelForCausalLM.from_pretrained(name)
    for batch in loader:
        logits = model(**batch).logits
        loss = chunked_cross_entropy(logits.float(), batch["labels"], chunk_size=64)  # expect: PLM046
        loss.backward()
        optimizer.step()
    for batch in loader:
        loss = 0.0
        for at in range(8):
            chunk_logits = model(**batch).logits[:, at]
            # trap: a piece, by its name
            loss = loss + chunked_cross_entropy(chunk_logits.float(), batch["labels"][:, at])
        loss.backward()
        optimizer.step()
