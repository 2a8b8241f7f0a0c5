import torch


def validate(vocoder, loader, loss_of):
    vocoder.eval()
    torch.backends.cudnn.benchmark = True  # expect: PLM064
    total = 0.0
    with torch.no_grad():
        for mel, wave in loader:
            mel, wave = mel.cuda(), wave.cuda()
            made = vocoder(mel)
            total += loss_of(made[:, :, : wave.size(2)], wave).item()
    # trap: the training after it has one length
    torch.backends.cudnn.benchmark = True
    vocoder.train()
    return total


def train(vocoder, loader, optimizer, loss_of):
    # trap: segments of one length, as far as anyone can see
    torch.backends.cudnn.benchmark = True
    for mel, wave in loader:
        made = vocoder(mel.cuda())
        loss_of(made[:, :, : wave.size(2)], wave.cuda()).backward()
        optimizer.step()
        optimizer.zero_grad()


def compare(net, loader):
    net.eval()
    # trap: the first of a fixed number
    torch.backends.cudnn.benchmark = True
    with torch.no_grad():
        return [net(image.cuda())[:, :10] for image in loader]
