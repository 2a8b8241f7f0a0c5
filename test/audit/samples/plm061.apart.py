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


def switched(model, batch, optimizer, use_amp):
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)  # expect: PLM061
    with torch.autocast("cuda", torch.bfloat16, enabled=use_amp):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)


def switched_apart(model, batch, optimizer, use_amp, scale):
    # trap: perhaps never on
    scaler = torch.amp.GradScaler("cuda", enabled=scale)
    with torch.autocast("cuda", torch.bfloat16, enabled=use_amp):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)


def switched_half(model, batch, optimizer, use_amp):
    # trap: float16
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    with torch.autocast("cuda", enabled=use_amp):
        loss = model(batch).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
