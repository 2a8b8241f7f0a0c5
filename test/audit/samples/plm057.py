import torch
import transformers

device = torch.device("cuda")


def optimizers(parameters, options):
    a = torch.optim.AdamW(parameters, lr=1e-3)  # expect: PLM057
    b = torch.optim.Adam(parameters)  # expect: PLM057
    # trap: said
    c = torch.optim.AdamW(parameters, fused=True)
    # trap: chosen
    d = torch.optim.AdamW(parameters, foreach=False)
    # trap: may be in the options
    e = torch.optim.AdamW(parameters, **options)
    # trap: has no fused path
    f = transformers.AdamW(parameters)
    # trap: another optimizer
    g = torch.optim.RMSprop(parameters)
    return a, b, c, d, e, f, g
