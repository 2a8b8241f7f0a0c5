import torch


def train_one_epoch(model, loader, optimizer, loss_scaler=None):
    for x in loader:
        # trap: there may be none
        with torch.cuda.amp.autocast(dtype=torch.bfloat16):
            loss = model(x.cuda())
        if loss_scaler is not None:
            loss_scaler(loss, optimizer)
        else:
            loss.backward()
            optimizer.step()
