import torch


def train(unet, loader, optimizer, six):
    unet.train()
    for x, t, y in loader:
        pred = unet(x, t, return_dict=False)[0]
        if six:
            pred, _ = torch.chunk(pred, 2, dim=1)
        kept = pred.clone()  # expect: PLM081
        loss = (kept - y).pow(2).mean()
        other = unet(x, t, return_dict=False)[0].clone()  # expect: PLM081
        # trap: a row, so that the rest can go
        row = unet(x, t)[0].clone()
        # trap: written into
        copy = pred.clone()
        copy[0] = 0.0
        (loss + other.mean() + row.mean() + copy.mean()).backward()
        optimizer.step()


def branches(model, loader, optimizer, long):
    model.train()
    for x, lengths in loader:
        if long:
            scores = model(x, lengths=lengths)
        else:
            scores = model(x)
        kept = scores.clone()  # expect: PLM081
        # trap: may be the input itself
        other = x if long else model(x)
        copy = other.clone()  # likely: PLM081
        (kept.mean() + copy.mean()).backward()
        optimizer.step()


def handed(model, loader, optimizer):
    model.train()
    for x, y in loader:
        scores = model(x)
        loss = torch.nn.functional.cross_entropy(scores.clone(), y)  # expect: PLM081
        # trap: changed in place
        kept = torch.nn.functional.relu(scores.clone(), inplace=True)
        # trap: a view of the copy, which is written into
        flat = torch.flatten(scores.clone())
        flat[0] = 0.0
        (loss + kept.mean() + flat.mean()).backward()
        optimizer.step()


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(64, 64)
        self.cell = torch.nn.GRUCell(64, 64)
        self.attention = torch.nn.MultiheadAttention(64, 4)

    def forward(self, x):
        out = self.lstm(x)[0].clone()  # expect: PLM081
        mixed = self.attention(out, out, out)[0].clone()  # expect: PLM081
        best = mixed.softmax(-1).topk(3).values.clone()  # expect: PLM081
        most = torch.max(mixed, dim=-1)[0].clone()  # expect: PLM081
        # trap: a row, so that the rest can go
        row = self.cell(out[0])[0].clone()
        # trap: a row of the larger of two
        larger = torch.max(out, mixed)[0].clone()
        # trap: a part, so that the rest can go
        last = self.lstm(x)[0][-1].clone()
        return best.mean() + most.mean() + row.mean() + larger.mean() + last.mean()


def tag(tagger: Tagger, loader, optimizer):
    tagger.cuda().train()
    for x in loader:
        tagger(x.to("cuda", non_blocking=True)).backward()
        optimizer.step()
