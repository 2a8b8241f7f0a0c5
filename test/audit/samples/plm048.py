import math

import torch
import torch.nn as nn
from transformers import Trainer


class Lora(nn.Module):
    def __init__(self, scaling):
        super().__init__()
        self.scaling = scaling
        self.lora_A = nn.Linear(8, 2)
        self.lora_B = nn.Linear(2, 8)

    def forward(self, x, a, b):
        y = (x @ a @ b) * self.scaling  # expect: PLM048
        z = self.lora_B(self.lora_A(x)) * self.scaling  # expect: PLM048
        # trap: the small operand is scaled
        w = ((x * self.scaling) @ a) @ b
        # trap: rebound
        v = x @ a
        v = v @ b
        v = v * self.scaling
        # trap: one product, by another tensor
        u = (x @ a) * b
        return y + z + w + v + u


class Similar(nn.Module):
    def __init__(self, args, temperature):
        super().__init__()
        self.args = args
        self.temperature = temperature
        self.tau = nn.Parameter(temperature)

    def forward(self, a, b, params):
        first = a @ b
        second = first / self.args.temperature  # expect: PLM048
        third = b @ a
        fourth = third / math.sqrt(128)  # expect: PLM048
        fifth = b @ b
        sixth = fifth * self.temperature  # expect: PLM048
        # trap: it learns, and its gradient needs the product
        seventh = a @ a
        eighth = seventh / self.tau
        # trap: these may be weights
        ninth = a @ b
        tenth = ninth * params.gain
        # trap: read again
        last = a @ b
        scaled = last / self.args.temperature
        return second + fourth + sixth + eighth + tenth + scaled + last


def once(x, a, b):
    # trap: nobody knows how often
    return (x @ a @ b) * 2.0


class Tied(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, width)
        self.places = nn.Embedding(512, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x, chances):
        # trap: as wide as a token
        soft = (chances @ self.tokens.weight) * 0.5
        # trap: small
        where = (x @ self.places.weight.t()) * 0.5
        gated = (x @ self.gate.weight.T) * 0.5
        return soft, where, gated, (x @ self.tokens.weight.t()) * 0.125  # expect: PLM048


class Judge(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs, output_hidden_states=True)
        hidden = outputs.hidden_states[-1]
        # trap: small beside what the model made
        pooled = torch.matmul(hidden[:, 0], hidden[:, 0].t()) / 0.07
        # trap: of one place
        pooled = pooled + (model.lm_head(hidden[:, -1]) / 0.7).mean()
        scores = torch.matmul(hidden, model.lm_head.weight.t()) / 0.7  # expect: PLM048
        return outputs.loss + scores.mean() + pooled.mean()


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = width**-0.5
        self.learnt_scale = nn.Parameter(torch.ones(()))

    def forward(self, q, k, v):
        att = (q @ k.transpose(-2, -1)) * self.scale  # expect: PLM048
        first = torch.softmax(att, dim=-1) @ v
        # trap: the smaller operand is scaled
        second = torch.softmax((q * self.scale) @ k.transpose(-2, -1), dim=-1) @ v
        # trap: it learns, and its gradient needs the product
        third = torch.softmax((q @ k.transpose(-2, -1)) * self.learnt_scale, dim=-1) @ v
        # trap: pairs of a batch, which no values are weighed by
        pairs = (first[:, 0] @ second[:, 0].t()) * self.scale
        return first + second + third, pairs


class Fallback(nn.Module):
    def forward(self, q, k, v):
        if hasattr(nn.functional, "scaled_dot_product_attention"):
            return nn.functional.scaled_dot_product_attention(q, k, v)
        # trap: of old versions only
        return ((q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))).softmax(-1) @ v


class Affinity(nn.Module):
    def __init__(self, width, ntoken):
        super().__init__()
        self.width = width
        self.words = nn.Embedding(ntoken, width)
        self.weight = nn.Parameter(torch.empty(width, width))

    def forward(self, video, left, right, mask):
        near = torch.matmul(video.transpose(1, 2), video) * 0.5  # expect: PLM048
        far = torch.bmm(left, right).mul(0.1)  # expect: PLM048
        logits = torch.matmul(video, self.words.weight.t()) * self.width**-0.5  # expect: PLM048
        hidden = torch.relu(self.weight.mm(left) * self.width**-0.5)  # expect: PLM048
        sim = torch.einsum(f"b i d, b j d -> b i j", video, video) * 0.5  # expect: PLM048
        # trap: two axes
        gram = torch.einsum("bi,bj->ij", left, right) * 0.5
        # trap: by another tensor
        other = torch.bmm(left, right) * mask**2
        # trap: one matrix, of the examples
        pairs = (left @ left.transpose(0, 1)) * 0.5
        return near, far, logits, hidden, sim, gram, other, pairs


class Quantizer(nn.Module):
    def __init__(self, num_embeddings, width):
        super().__init__()
        self.codebook = nn.Embedding(num_embeddings, width)

    def forward(self, x):
        near = 2.0 * torch.matmul(x, self.codebook.weight.t())  # expect: PLM048
        return self.codebook.weight.pow(2).sum(1) - near
