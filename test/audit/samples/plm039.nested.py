import torch
from torch.utils.data import DataLoader


def batch_of(rows):
    def filled(parts):
        block = torch.zeros(len(parts), 64).cuda()  # expect: PLM039
        for at, part in enumerate(parts):
            block[at, : len(part)] = part.to("cuda")  # expect: PLM039
        return block

    frames, kinds = zip(*rows)
    return filled(frames), torch.tensor(kinds)


def prepared(rows, later):
    # trap: the loop calls it, once the batch is out of the loader
    def send(batch):
        return batch.to("cuda")

    later.append(send)
    return torch.stack(rows)


def loader_of(clips, later):
    first = DataLoader(clips, batch_size=8, collate_fn=batch_of)
    return first, DataLoader(clips, batch_size=8, collate_fn=lambda rows: prepared(rows, later))


def step(net, batch):
    # trap: the helper of a step
    def sent(rows):
        return rows.cuda()

    return net(sent(batch))
