import torch
from torch.nn import functional as F


def fit(scene, loader, writer, every):
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(scene.encoder(x.cuda()), y.cuda())
        scene.optimizer.zero_grad()
        loss.backward()
        scene.optimizer.step()
        if step % every == 0:
            show(scene, x, writer, step)
            show_free(scene, x, writer, step)
            steepness(scene, x, writer, step)
            tell(scene, x, writer, step)
            write(scene, x, writer, step)
            steady(scene, x, writer, step)


def show(scene, x, writer, step):
    scene.switch_to_eval()
    drawn = scene.encoder(x.cuda())  # expect: PLM019
    writer.add_image("drawn", drawn[0].detach().cpu(), step)
    scene.switch_to_train()


def show_free(scene, x, writer, step):
    scene.switch_to_eval()
    # trap: nothing is recorded
    with torch.no_grad():
        drawn = scene.encoder(x.cuda())
    writer.add_image("drawn", drawn[0].cpu(), step)
    scene.switch_to_train()


def steepness(scene, x, writer, step):
    scene.switch_to_eval()
    x = x.cuda().requires_grad_()
    # trap: differentiated
    drawn = scene.encoder(x)
    (steep,) = torch.autograd.grad(drawn.sum(), x)
    writer.add_image("steep", steep[0].cpu(), step)
    scene.switch_to_train()


def tell(scene, x, writer, step):
    scene.switch_to_eval()
    # trap: handed back
    drawn = scene.encoder(x.cuda())
    writer.add_image("drawn", drawn[0].detach().cpu(), step)
    scene.switch_to_train()
    return drawn


def write(scene, x, writer, step):
    scene.switch_to_eval()
    # trap: runs nothing
    path = scene.save_model(step)
    writer.add_text("path", path)
    writer.add_scalar("size", x.sum().item(), step)
    scene.switch_to_train()


def steady(scene, x, writer, step):
    scene.switch_to_eval()
    scene.switch_to_train()
    # trap: switched back before
    drawn = scene.encoder(x.cuda())
    writer.add_scalar("drawn", F.mse_loss(drawn, x.cuda()).item(), step)
