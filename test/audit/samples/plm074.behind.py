import torch

device = torch.device("cuda")


def backward(total_loss, scaler):
    if scaler is not None:
        scaler.scale(total_loss).backward()
    else:
        total_loss.backward()


def train(model, loader, criterion, optimizer, scaler, amp):
    for x, y in loader:
        losses = criterion(**model(x.to(device), y.to(device)), output_dict=True)
        total_loss = sum(losses.values())
        backward(total_loss.double(), scaler)  # expect: PLM074
        # trap: counted on the host
        print(sum(range(3)) * 2.0)
        optimizer.step()


def manager(model, batches, optimizer, amp):
    for parts in batches:
        for x in parts:
            loss = model(x).mean().double()  # expect: PLM074
            amp.backward(loss)
        amp.step(model, optimizer)
