import torch
import torch.nn.functional as F
from rankers import Ranker, build


def evaluate(ranker, loader):
    ranker.model.eval()
    correct = 0
    for context, labels in loader:
        loss, logits = ranker(context.cuda(), labels.cuda())  # expect: PLM019
        correct += (logits.argmax(-1).cpu() == labels).sum().item()
    return correct


def unrecorded(ranker, loader):
    ranker.model.eval()
    correct = 0
    for context, labels in loader:
        # trap: nothing is recorded
        with torch.no_grad():
            loss, logits = ranker(context.cuda(), labels.cuda())
        correct += (logits.argmax(-1).cpu() == labels).sum().item()
    return correct


def other_part(ranker, loader):
    # trap: of what is run only a part is in eval mode, which stays as it is
    ranker.embedding.eval()
    scores = []
    for context, labels in loader:
        scores.append(ranker(context.cuda(), labels.cuda()))
    return scores


def train(loader):
    ranker = build(Ranker).cuda()
    optimizer = torch.optim.AdamW(ranker.parameters(), lr=1e-4, fused=True)
    for epoch in range(3):
        # trap: back in training mode
        ranker.model.eval()
        ranker.model.train()
        for context, labels in loader:
            loss, logits = ranker(context.cuda(), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
