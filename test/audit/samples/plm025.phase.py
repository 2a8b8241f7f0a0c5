import torch


def train(model, loaders, criterion, optimizer, device):
    model.to(device)
    for phase in ["train", "valid"]:
        kept = []
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = criterion(model(x.to(device)), y.to(device))
                if phase == "valid":
                    # trap: validation, whatever loop it shares with the training
                    kept.append(loss.item())
                if phase != "train":
                    # trap: the same
                    print(loss.item())
                if phase == "train":
                    loss.backward()
                    optimizer.step()
                    kept.append(loss.item())  # expect: PLM025
