"""Logits that have a name only once they are widened, of a network that is handed in."""

import torch
import torch.nn.functional as F


def mlm_loss(net, batch):
    out = net.infer(batch["input_ids"])
    mlm_logits = net.score_words(out["text"]).float()  # expect: PLM046
    return F.cross_entropy(
        mlm_logits.view(-1, net.config["vocab_size"]), batch["labels"].view(-1), ignore_index=-100
    )


def head_loss(net, batch):
    out = net.infer(batch["input_ids"])
    scores = net.mlm_score(out["text"]).to(torch.float32)  # expect: PLM046
    return F.cross_entropy(
        scores.view(-1, net.config["vocab_size"]), batch["labels"].view(-1), ignore_index=-100
    )


def match_loss(net, batch):
    out = net.infer(batch["input_ids"])
    # trap: a pair of scores for each example
    match = net.match_score(out["cls"]).float()
    return F.cross_entropy(match, batch["match"].long())


def plain_loss(net, batch):
    out = net.infer(batch["input_ids"])
    # trap: nothing is widened
    mlm_logits = net.score_words(out["text"])
    return F.cross_entropy(
        mlm_logits.view(-1, net.config["vocab_size"]), batch["labels"].view(-1), ignore_index=-100
    )


def seen_loss(net, batch):
    with torch.no_grad():
        # trap: nothing is kept for a backward
        mlm_logits = net.score_words(net.infer(batch["input_ids"])["text"]).float()
        return F.cross_entropy(
            mlm_logits.view(-1, net.config["vocab_size"]), batch["labels"].view(-1), ignore_index=-100
        )


def train(net, loader, optimizer):
    net.cuda()
    for batch in loader:
        loss = mlm_loss(net, batch) + head_loss(net, batch) + match_loss(net, batch) + plain_loss(net, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(seen_loss(net, batch))
