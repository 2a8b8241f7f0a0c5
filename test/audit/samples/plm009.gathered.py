import torch
import torch.nn.functional as F

from rollouts import generate


@torch.no_grad()
def likelihoods(policy, queries, tokenizer, size):
    found = []
    for first in range(0, len(queries), size):
        answers, logits = generate(policy, queries[first : first + size], tokenizer)
        rows = F.log_softmax(logits, dim=-1)  # expect: PLM009
        found.append(torch.gather(rows, 2, answers.unsqueeze(-1)).squeeze(-1))
    return torch.cat(found)


@torch.no_grad()
def deleted(policy, queries, tokenizer, size):
    found = []
    for first in range(0, len(queries), size):
        answers, logits = generate(policy, queries[first : first + size], tokenizer)
        # trap: deleted
        rows = F.log_softmax(logits, dim=-1)
        found.append(rows.gather(-1, answers.unsqueeze(-1)).squeeze(-1))
        del logits, rows
    return torch.cat(found)


@torch.no_grad()
def all_rows(policy, queries, tokenizer, size):
    found = []
    for first in range(0, len(queries), size):
        answers, logits = generate(policy, queries[first : first + size], tokenizer)
        # trap: all of it is wanted
        rows = F.log_softmax(logits, dim=-1)
        found.append(rows)
    return torch.cat(found)


@torch.no_grad()
def judged(networks, loader, metric):
    def forward(images):
        given = [network(images) for network in networks]
        return len(given), torch.stack(given, -1)

    for images, tokens in loader:
        count, all_pred = forward(images.cuda())  # expect: PLM009
        p = all_pred[tokens >= 0].permute(2, 1, 0)
        if count > 1:
            p = p[:, 1:]
        metric.update(p, tokens.cuda())
    return metric.compute()
