import os, sys, torch
kind = sys.argv[1]
torch.manual_seed(1) if kind == "seeded" else None
from transformers import GPT2Config, GPT2LMHeadModel
attn = "eager" if kind == "eager" else "sdpa"
model = GPT2LMHeadModel(GPT2Config(n_layer=6, n_head=8, n_embd=512, vocab_size=8192, n_positions=512, attn_implementation=attn, resid_pdrop=0, attn_pdrop=0, embd_pdrop=0)).cuda()
lr = 1.01e-3 if kind == "lr" else 1e-3
opt = torch.optim.AdamW(model.parameters(), lr=lr, fused=kind == "fused")
kept = []
for i in range(30):
    x = torch.randint(0, 8192, (8, 256)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=kind != "fp32"):
        parts = x.chunk(2) if kind == "micro" else [x]
        for p in parts:
            out = model(p, labels=p)
            (out.loss / len(parts)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step(); opt.zero_grad()
    if kind == "leak": kept.append(out.logits.detach())
print("loss", out.loss.item(), "peak", torch.cuda.max_memory_allocated())
