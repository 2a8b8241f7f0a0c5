from torch import nn


class LowRank(nn.Linear):
    def __init__(self, inside, outside, rank):
        super().__init__(inside, outside)
        self.lora_a = nn.Parameter(self.weight.new_zeros(rank, inside))
        self.lora_b = nn.Parameter(self.weight.new_zeros(outside, rank))
        if rank == 0:
            self.lora_a.requires_grad = False
            self.lora_b.requires_grad = False


def train_adapters_only(net):
    for name, weight in net.named_parameters():
        if "lora" in name:
            weight.requires_grad = True  # expect: PLM066
    return net


def open_the_head(net):
    for name, weight in net.named_parameters():
        # trap: it may have been closed by whoever calls this
        if name.startswith("head"):
            weight.requires_grad = True
    return net
