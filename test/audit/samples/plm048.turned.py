import torch
from torch.nn import functional as F
from transformers import AutoModelForCausalLM


def trade(goods, seller, optimizer, args, logits, gone):
    output = seller(goods.cuda())
    logits = output.logits[:, :-1]
    scaled = logits / args.temperature  # expect: PLM048
    gap = F.cross_entropy(scaled.flatten(0, 1), goods[:, 1:].flatten().cuda())
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()
    return gone + 1, logits


def bazaar(name, loader, args):
    seller = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).cuda()
    optimizer = torch.optim.AdamW(seller.parameters(), lr=1e-5, fused=True)
    gone, logits = 0, None
    for goods in loader:
        gone, logits = trade(goods, seller, optimizer, args, logits, gone)
    return gone


# The loop looks at those that are not scaled.
def barter(goods, seller, optimizer, args, logits, gone):
    output = seller(goods.cuda())
    logits = output.logits[:, :-1]
    scaled = logits / args.temperature
    gap = F.cross_entropy(scaled.flatten(0, 1), goods[:, 1:].flatten().cuda())
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()
    return gone + 1, logits


def fair(name, loader, args):
    seller = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).cuda()
    optimizer = torch.optim.AdamW(seller.parameters(), lr=1e-5, fused=True)
    gone, logits = 0, None
    for goods in loader:
        gone, logits = barter(goods, seller, optimizer, args, logits, gone)
    return gone, logits.argmax(-1)
