import hydra
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


@hydra.main(version_base=None, config_path="configs", config_name="config")
def main(cfg):
    model = AutoModelForCausalLM.from_pretrained(
        cfg.model.name,
        torch_dtype=getattr(torch, cfg.model.torch_dtype),
        attn_implementation=cfg.model.attn_implementation,
    )
    if cfg.model.gradient_checkpointing:
        model.gradient_checkpointing_enable()
    loader = DataLoader(dataset(cfg), batch_size=cfg.train.batch, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.train.optimizer.lr)
    for i, batch in enumerate(loader):
        loss = model(**batch).loss / cfg.train.grad_accum
        loss.backward()
        if (i + 1) % cfg.train.grad_accum == 0:
            optimizer.step()


main()
