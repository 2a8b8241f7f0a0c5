import torch
from torch.utils.data import DataLoader


def batcher(padding):
    table = torch.zeros(8)

    def together(examples):
        return torch.nn.utils.rnn.pad_sequence(examples, padding_value=padding).cuda()  # expect: PLM039

    # trap: once, when it is made
    table = table.cuda()
    return together


def sender(device):
    def send(batch):
        # trap: made for the step
        return batch.to("cuda")

    return send


loader = DataLoader(range(4), collate_fn=batcher(1))
send = sender("cuda")
