import torch


def glaze(pot, batch, warmth, optimizer):
    with warmth:
        loss = pot(batch.cuda()).mean()
        loss.backward()  # expect: PLM061
    optimizer.step()
    optimizer.zero_grad()


def kiln(pot, loader, optimizer):
    warmth = torch.autocast("cuda", dtype=torch.bfloat16)
    for batch in loader:
        glaze(pot, batch, warmth, optimizer)


# What it is handed is a record of the time, beside the cast.
def fire(pot, batch, warmth, record, optimizer):
    with warmth:
        loss = pot(batch.cuda()).mean()
    with record:
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def oven(pot, loader, optimizer):
    warmth = torch.autocast("cuda", dtype=torch.bfloat16)
    record = torch.profiler.record_function("backward")
    for batch in loader:
        fire(pot, batch, warmth, record, optimizer)
