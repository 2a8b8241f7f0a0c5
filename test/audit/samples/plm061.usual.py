import torch

precision = "bf16" if torch.cuda.is_bf16_supported() else "fp16"
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def train(net, loader, optimizer):
    scaler = torch.amp.GradScaler("cuda")  # expect: PLM061
    kind = TYPES[precision]
    for images in loader:
        with torch.autocast("cuda", dtype=kind):
            loss = net(images).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def train_switched(net, loader, optimizer, scale):
    # trap: who asks for it may ask for half precision as well
    scaler = torch.amp.GradScaler("cuda", enabled=scale)
    kind = TYPES.get(precision)
    for images in loader:
        with torch.autocast("cuda", dtype=kind):
            loss = net(images).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def train_by_type(net, loader, optimizer):
    # trap: only where it is scaled for
    scaler = torch.amp.GradScaler("cuda") if precision.startswith("fp") and TYPES else None
    kind = getattr(torch, "bfloat16")
    for images in loader:
        with torch.autocast("cuda", dtype=TYPES[precision]):
            loss = net(images).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
