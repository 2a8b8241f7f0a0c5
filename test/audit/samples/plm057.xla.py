import torch
import torch_xla.core.xla_model as xm


def build(net):
    net.to(xm.xla_device())
    print(torch.cuda.is_available())
    # trap: XLA has no fused kernel
    return torch.optim.AdamW(net.parameters(), lr=1e-4, foreach=True)
