"""What every batch of an evaluation is held against."""

import torch


def class_embeddings(model, prompts):
    return model.encode_text(prompts).softmax(-1)


def fit(model, loader, optimizer):
    for images, prompts in loader:
        loss = model(images.cuda(), prompts.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def zero_shot(model, get_model, prompts, val_loader):
    model.eval()
    right = 0
    for images, target in val_loader:
        features = get_model(model).encode_image(images.cuda())
        classes = get_model(model).encode_text(prompts)  # expect: PLM080
        again = class_embeddings(model, prompts)  # expect: PLM080
        right += ((features @ classes.t() + again.mean()).argmax(1) == target.cuda()).sum()
    return right


@torch.no_grad()
def drawn(model, prompts, val_loader):
    right = 0
    for images, target in val_loader:
        # trap: nothing has put it into eval mode, so its dropout draws anew
        classes = model.encode_text(prompts)
        right += (images.cuda() @ classes.t()).argmax(1) == target
    return right


@torch.no_grad()
def timed(model, prompts, clock):
    model.eval()
    for _ in range(100):
        # trap: run again and again to time it
        classes = model.encode_text(prompts)
        clock(classes)


@torch.no_grad()
def compared(models, prompts):
    found = []
    for model in models:
        model.eval()
        # trap: each turn has a network of its own
        found.append(model.encode_text(prompts))
    return found


def adapted(model, prompts, val_loader, adapt):
    model.eval()
    for images, target in val_loader:
        with torch.no_grad():
            # trap: it learns between the turns
            classes = model.encode_text(prompts)
        adapt.step(images, classes, target)
