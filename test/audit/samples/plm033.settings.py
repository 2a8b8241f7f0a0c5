import torch


def fit(model, loader, optimizer, processor, device):
    model.to(device)
    data_cfg = model.default_cfg
    weights = data_cfg["class_weights"]

    def scaled(images):
        middle = torch.tensor(data_cfg["mean"], device=images.device)  # expect: PLM033
        width = torch.tensor(model.default_cfg["std"]).view(1, 3, 1, 1).to(device)  # expect: PLM033
        return (images - middle[None, :, None, None]) / width

    for batch in loader:
        images = batch["image"].to(device)
        outputs = model(scaled(images))
        shift = torch.tensor(processor.image_mean, device=device)  # expect: PLM033
        each = torch.tensor(weights, device=device)  # expect: PLM033
        # trap: a batch is no settings, and another one in every step
        wanted = torch.tensor(batch["label"], device=device)
        loss = torch.nn.functional.cross_entropy(outputs + shift.mean(), wanted, weight=each)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def search(net, candidates, images, optimizer, device):
    net.to(device)
    for config in candidates:
        # trap: each turn has settings of its own
        depths = torch.tensor(config["depths"], device=device)
        loss = net(images.to(device), depths).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
