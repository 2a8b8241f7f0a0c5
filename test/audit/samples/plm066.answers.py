import torch
from torch import nn

from models import load_conditional

model = nn.Linear(8, 8).cuda()
vqgan, (tokenizer, t5) = load_conditional("t5", "cuda")
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for images, captions in loader:
    ids = tokenizer(captions, return_tensors="pt").input_ids.cuda()
    told = t5(input_ids=ids).last_hidden_state  # expect: PLM066
    with torch.no_grad():
        # trap: recorded by nobody
        again = t5(input_ids=ids).last_hidden_state
    loss = (model(images.cuda()) - told - again).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
