import torch


def validate(net, loader, views):
    net.eval()
    outputs = []
    targets = []
    moved = []
    with torch.no_grad():
        for images, labels in loader:
            out = net(images.cuda())
            if isinstance(out, tuple):
                out = out[0]
            if views > 1:
                out = out.unfold(0, views, views).mean(dim=2)
            outputs.append(out)  # expect: PLM003
            wanted = labels
            if views > 1:
                wanted = wanted.unfold(0, views, views).amax(dim=1)
            targets.append(wanted)  # trap: data of the loader
            host = net(images.cuda())
            if views > 0:
                host = host.flatten(1).cpu()
            moved.append(host)  # trap: moved
    return torch.cat(outputs).amax(-1).mean().item(), targets, moved
