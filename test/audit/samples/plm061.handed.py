import torch


def train_one_epoch(model, loader, optimizer, loss_scaler):
    for x in loader:
        with torch.cuda.amp.autocast(dtype=torch.bfloat16):  # likely: PLM061
            loss = model(x.cuda())
        loss_scaler(loss, optimizer, parameters=model.parameters())
        optimizer.zero_grad()


def fit(model, loader, optimizer, standard_scaler):
    for x in loader:
        # trap: what standardizes the data scales no loss
        x = standard_scaler.transform(x)
        loss = model(x.cuda())
        loss.backward()
        optimizer.step()
