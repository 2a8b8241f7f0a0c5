import wandb

TRACK = False
wandb.init(project="trial", mode="disabled" if not TRACK else "online")


def train(model, loader, optimizer):
    for batch in loader:
        loss = model(batch.cuda()).sum()
        # trap: switched off above, it does nothing
        wandb.log(dict(loss=loss))
        loss.backward()
        optimizer.step()
