import torch


def train(model, loader, held_out, optimizer, criterion):
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        # trap: trains in float16, which needs the scaling; only the evaluation is in bfloat16
        with torch.cuda.amp.autocast():
            loss = criterion(model(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    with torch.no_grad():
        for x, y in held_out:
            with torch.cuda.amp.autocast(dtype=torch.bfloat16):
                model(x.cuda())
