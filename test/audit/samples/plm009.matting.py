from torchvision.utils import make_grid


def compute_loss(alpha, front, wanted):
    return (alpha - wanted[0]).abs().mean() + (front - wanted[1]).abs().mean()


def train_matting(model, loader, optimizer, writer):
    for step, (image, back, wanted) in enumerate(loader):
        pred_alpha, pred_front = model(image.cuda(), back.cuda())[:2]  # expect: PLM009
        loss = compute_loss(pred_alpha, pred_front, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            writer.add_image("alpha", make_grid(pred_alpha, nrow=5), step)


def train_and_delete(model, loader, optimizer, writer):
    for step, (image, back, wanted) in enumerate(loader):
        # trap: gone before the next forward
        pred_alpha, pred_front = model(image.cuda(), back.cuda())[:2]
        loss = compute_loss(pred_alpha, pred_front, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            writer.add_image("alpha", make_grid(pred_alpha, nrow=5), step)
        del pred_alpha, pred_front
