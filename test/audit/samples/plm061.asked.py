import torch

precision = "bfloat16"
types = {"bfloat16": torch.bfloat16, "float16": torch.float16}
# trap: without a step that is scaled, it does nothing
scaler = torch.amp.GradScaler("cuda")


def train(net, loader, optimizer):
    for images in loader:
        with torch.autocast("cuda", dtype=types[precision]):
            loss = net(images).mean()
        if precision == "float16":
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        optimizer.zero_grad()
