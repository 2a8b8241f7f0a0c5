import torch
from accelerate import Accelerator
from transformers import AutoModel
from transformers.utils import is_wandb_available

if is_wandb_available():
    import wandb


def train(args, loader, queue):
    accelerator = Accelerator()
    model = AutoModel.from_pretrained(args.name)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        accelerator.backward(loss)
        if accelerator.is_main_process and is_wandb_available():
            wandb.log({"loss": loss.detach()})  # expect: PLM069
        if is_wandb_available() and step % 50 == 0:
            # trap: now and then
            wandb.log({"loss": loss.detach()})
        if queue.is_listener_available():
            # trap: of an object, whose answer may be another each time
            wandb.log({"loss": loss.detach()})
        optimizer.step()
        optimizer.zero_grad()
