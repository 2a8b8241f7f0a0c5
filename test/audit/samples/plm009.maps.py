import torch


def train(model, loader, criterion, optimizer):
    seen = torch.zeros((), device="cuda")
    for images, truth in loader:
        out, attention_maps = model(images.to("cuda"), maps=True)  # expect: PLM009
        loss = criterion(out, truth.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += attention_maps.detach()[:, 0].sum(-1).mean()
    return seen


def train_and_show(model, loader, criterion, optimizer, show):
    for images, truth in loader:
        # trap: somebody else gets them
        out, attention_maps = model(images.to("cuda"), maps=True)
        loss = criterion(out, truth.to("cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show(attention_maps)



def train_and_draw(model, loader, optimizer, writer):
    for step, (images, truth) in enumerate(loader):
        loss, attention_maps = model(images.to("cuda"), truth.to("cuda"))  # expect: PLM009
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            writer.add_image("attention", attention_maps[0], step)
