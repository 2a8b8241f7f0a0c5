import torch
import torch.nn.functional as F


def train(net, loader, optimizer, classes):
    net.cuda()
    for images, labels in loader:
        # trap: on the host, before it is sent
        wide = F.one_hot(labels)
        labels = labels.cuda()
        scores = net(images.cuda())
        narrow = F.one_hot(labels)  # expect: PLM028
        # trap: as wide as somebody says
        known = F.one_hot(labels, num_classes=classes) + F.one_hot(labels, classes)
        counts = torch.bincount(labels, minlength=classes)  # expect: PLM028
        loss = F.cross_entropy(scores, known.float()) + (narrow.float() - wide.cuda()).mean() * counts.sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
