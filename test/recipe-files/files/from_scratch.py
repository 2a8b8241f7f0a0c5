"""A small model trained from nothing with accelerate and bitsandbytes."""
import bitsandbytes as bnb
import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

block_size = 1_024
micro, total = 8, 64

config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22,
                     num_attention_heads=32, num_key_value_heads=4, vocab_size=32000)
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=total // micro)
model = LlamaForCausalLM(config)
for parameter in model.model.embed_tokens.parameters():
    parameter.requires_grad = False
model = DDP(torch.compile(model))
optimizer = bnb.optim.AdamW8bit(model.parameters(), lr=3e-4)
train_loader = DataLoader(blocks(block_size), micro)
for batch in train_loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(input_ids=batch, labels=batch).loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
