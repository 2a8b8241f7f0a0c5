from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer


@dataclass
class Config:
    model: str = "meta-llama/Llama-3.2-1B"
    batch_size: int = 4
    accumulate: int = 8
    lengths: list = field(default_factory=lambda: [512, 1024])


def train(config: Config, clip=1.0):
    tokenizer = AutoTokenizer.from_pretrained(config.model)
    model = AutoModelForCausalLM.from_pretrained(config.model, dtype=torch.float32).cuda()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    collate = lambda rows: tokenizer(rows, padding="max_length", max_length=config.lengths[-1], return_tensors="pt")
    evaluation = DataLoader(valid(), batch_size=32)
    loader = DataLoader(train_rows(), batch_size=config.batch_size, shuffle=True, collate_fn=collate)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    for step, batch in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = model(batch["input_ids"].cuda(), attention_mask=batch["attention_mask"].cuda())
            loss = F.cross_entropy(out.logits.flatten(0, 1), batch["labels"].cuda().flatten())
        (loss / config.accumulate).backward()
        if (step + 1) % config.accumulate == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            optimizer.zero_grad()


train(Config(batch_size=6))
