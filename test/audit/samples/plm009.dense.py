import torch
import torch.nn.functional as F

# A unet that foretells velocities, and segmentation by another.


def velocities(net, loader, optimizer):
    for x, _ in loader:
        x = x.cuda()
        v = net(x)  # expect: PLM009
        loss = ((v - x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def noises(unet, loader, optimizer):
    for noisy, noise, t in loader:
        guess = unet(noisy.cuda(), t.cuda()).sample  # expect: PLM009
        loss = F.mse_loss(guess, noise.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def regions(net, loader, optimizer):
    for images, masks in loader:
        y = net(images.cuda())  # expect: PLM009
        y = y["out"]
        loss = F.cross_entropy(y, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def levels(net, loader, optimizer, criterion):
    for images, masks in loader:
        main, side = net(images.cuda())  # expect: PLM009
        loss = criterion(main, masks.cuda()) + 0.4 * criterion(side, masks.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def counted(net, loader, optimizer, losses, iou):
    for images, masks in loader:
        masks = masks.cuda()
        first, second = net(images.cuda())  # expect: PLM009
        loss = losses(first, second, masks)
        regions = first.argmax(1)
        iou.update(regions, masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def codes(encoder, critic, loader, optimizer):
    for images, wanted, returns in loader:
        # trap: a code and a number for each example
        z = encoder(images.cuda())
        value = critic(images.cuda())
        loss = F.mse_loss(z, wanted.cuda()) + F.mse_loss(value, returns.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def dropped(net, loader, optimizer):
    for x, _ in loader:
        x = x.cuda()
        # trap: deleted
        v = net(x)
        loss = F.mse_loss(v, x)
        del v
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
