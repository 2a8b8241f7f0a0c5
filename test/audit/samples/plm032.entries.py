import torch


def train(model, loader, optimizer, scalers, seen):
    amp = {"scaler": torch.amp.GradScaler("cuda")}
    for x in loader:
        loss = model(x.cuda()).mean()
        amp["scaler"].scale(loss).backward()
        amp["scaler"].step(optimizer)
        amp["scaler"].update()
        seen.append(amp["scaler"].get_scale())  # expect: PLM032
        # trap: of what a picture is scaled by
        seen.append(scalers["picture"].get_scale())
        optimizer.zero_grad()
