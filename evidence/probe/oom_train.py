"""Full training of Llama 3.2 1B on a card of 24 GB: it does not fit, and plimsoll run says what would."""
import sys

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer

SEQ_LEN = 2048
BATCH = 8

# As if the card had 24 GB, 0.5 of them for the CUDA context.
if torch.cuda.is_available():
    torch.cuda.set_per_process_memory_fraction(23.5e9 / torch.cuda.get_device_properties(0).total_memory)
model = AutoModelForCausalLM.from_pretrained("../model", dtype=torch.bfloat16, attn_implementation="sdpa").to("cuda")
model.train()
tokenizer = AutoTokenizer.from_pretrained("../model")
tokens = torch.tensor(tokenizer(open(sys.argv[1]).read())["input_ids"])
rows = tokens[: len(tokens) // SEQ_LEN * SEQ_LEN].view(-1, SEQ_LEN)
loader = DataLoader(rows, batch_size=BATCH, shuffle=True, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
for step, ids in enumerate(loader):
    ids = ids.to("cuda")
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
