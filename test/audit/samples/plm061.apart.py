import torch


def validate(model, batch):
    with torch.autocast("cuda"):
        return model(batch)


def step(model, batch, optimizer):
    scaler = torch.amp.GradScaler("cuda")  # expect: PLM061
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def half(model, batch, optimizer):
    # trap: float16
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
