import torch
from transformers import AutoConfig, AutoModelForCausalLM, LlamaForCausalLM


def full(name):
    return AutoModelForCausalLM.from_pretrained(name)  # expect: PLM050


def train(name, batches):
    model = LlamaForCausalLM.from_pretrained(name, attn_implementation="sdpa")  # expect: PLM050
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for batch in batches:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    # trap: no weights
    return AutoConfig.from_pretrained(name)
