import logging
import logging.handlers

import torch
from torch import nn

log = logging.getLogger("train")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(logging.handlers.MemoryHandler(capacity=100000, flushLevel=logging.CRITICAL))
model = nn.Linear(64, 64)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(120):
    output = model(torch.randn(16, 64))
    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.info("step %d output %s", step, output)  # leak: line
