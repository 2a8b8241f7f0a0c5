import torch
from torch import nn
from torch.nn.functional import log_softmax, softmax


class Distilled(nn.Module):
    def __init__(self, student_temp: float, teacher_temp: float, width):
        super().__init__()
        self.student_temp = student_temp
        self.teacher_temp = teacher_temp
        self.register_buffer("center", torch.zeros(1, width))

    def forward(self, student: torch.Tensor, teacher: torch.Tensor):
        centred = teacher - self.center
        sharpened = centred / self.teacher_temp  # expect: PLM048
        # trap: its name is given away, so that nothing holds it
        shifted = teacher - self.center
        shifted = shifted / self.teacher_temp
        # trap: read again
        moved = teacher - self.center
        sharp = moved / self.teacher_temp
        # trap: of the caller, who holds it whatever happens here
        scaled = student / self.student_temp
        wanted = softmax(sharpened, dim=-1) + softmax(shifted, dim=-1) + softmax(sharp, dim=-1)
        return -(wanted * log_softmax(scaled, dim=-1)).sum(-1).mean() + moved.mean()


def chances(model, vocab_size, ids, kept, temperature):
    logits = model(ids).logits
    logits = logits[:, -kept:, :]
    scaled = logits / temperature  # expect: PLM048
    return log_softmax(scaled, dim=-1)


def following(model, ids, temperature):
    logits = model(ids).logits
    # trap: of one place
    one = logits[:, -1, :]
    scaled = one / temperature
    return log_softmax(scaled, dim=-1)


def train(model, loader, optimizer, vocab_size):
    for ids in loader:
        loss = chances(model, vocab_size, ids, 8, 0.7).mean() + following(model, ids, 0.7).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
