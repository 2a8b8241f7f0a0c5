import torch
import torch.nn.functional as F
import wandb

device = torch.device("cuda")


def train(model, loader, optimizer, writer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, step)  # expect: PLM069
        wandb.log({"loss": loss, "step": step})  # expect: PLM069
        logs = {}
        logs["loss"] = loss  # expect: PLM069
        if step % 50 == 0:
            # trap: put there now and then
            logs["norm"] = loss.norm()
        # trap: a number
        logs["rate"] = 0.1
        wandb.log(logs)
        # trap: no tensor
        writer.add_scalar("rate", 0.1, step)
        if step % 50 == 0:
            # trap: now and then
            wandb.log({"loss": loss})
    # trap: once
    wandb.log({"final": loss})
