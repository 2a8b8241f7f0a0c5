import torch.nn.functional as F


def again(response, logits):
    return [F.log_softmax(logits, dim=-1)[t, token] for t, token in enumerate(response)]  # expect: PLM080


def each(response, logits):
    # trap: of another row for each
    return [F.log_softmax(row, dim=-1)[token] for row, token in zip(logits, response)]


def over(response, logits):
    # trap: what is gone through is computed once
    return [row.max() for row in F.softmax(logits, dim=-1)]


def steps(logits, temperatures):
    # trap: each with another temperature
    return [F.softmax(logits / t, dim=-1) for t in temperatures]
