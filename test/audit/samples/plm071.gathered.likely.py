import torch
import torch.distributed as dist


def train(model, loader, optimizer):
    for x, y in loader:
        out = model(x.cuda())
        loss = torch.nn.functional.cross_entropy(out, y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses = [torch.zeros_like(loss) for _ in range(dist.get_world_size())]
        dist.all_gather(losses, loss.detach())
        acc = (out.argmax(1) == y.cuda()).float().mean()
        accs = [torch.zeros_like(acc) for _ in range(dist.get_world_size())]
        dist.all_gather(accs, acc)  # likely: PLM071


def contrast(model, loader, optimizer):
    for x in loader:
        image_norm, text_norm = model(x.cuda())
        images = [torch.zeros_like(image_norm) for _ in range(dist.get_world_size())]
        texts = [torch.zeros_like(text_norm) for _ in range(dist.get_world_size())]
        # trap: what the loss compares
        dist.all_gather(images, image_norm)
        # trap: and with what
        dist.all_gather(texts, text_norm)
        loss = (torch.cat(images) @ torch.cat(texts).T).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def alone(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses = [torch.zeros_like(loss) for _ in range(dist.get_world_size())]
        # trap: one
        dist.all_gather(losses, loss.detach())
