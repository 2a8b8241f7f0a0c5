import torch
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()  # expect: PLM025
        value = float(loss)  # expect: PLM025
        array = loss.detach().cpu().numpy()  # expect: PLM025
        print(value, array)
    return total


def throttled(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            # trap: a throttle
            print(loss.item())


def once_an_epoch(model, loader, optimizer):
    for epoch in range(10):
        total = torch.zeros((), device=device)
        for x, y in loader:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        # trap: the epoch loop is not the step
        print(total.item())


def on_the_host(model, loader, optimizer):
    for x, y in loader:
        weight = torch.tensor([1.0, 2.0])
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        # trap: a CPU tensor
        print(weight.sum().item())


def not_a_tensor(model, loader, optimizer, meter):
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        # trap: nobody knows what this is
        meter.value.item()


def validate(model, batch):
    # trap: called on the last turn only
    return model(batch).sum().item()


def train_and_validate(model, loader, optimizer, device):
    model.to(device)
    for i, (x, y) in enumerate(loader):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        if i == len(loader) - 1:
            validate(model, x)


class Sliced(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 3, 1).cuda()

    def forward(self, x):
        # trap: moved away to go on with it on the host
        return self.conv(x.cuda()).relu().to("cpu")


def first_only(model, loader, optimizer, device):
    model.to(device)
    first = None
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if first is None:
            # trap: once
            first = loss.item()
    return first


def score(model, task):
    # trap: called for a few tasks now and then, above a loop of its own
    return model(task).sum().item()


def train_and_score(model, loader, optimizer, tasks, device):
    model.to(device)
    for step, (x, y) in enumerate(loader):
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step % 100 == 0:
            for task in tasks:
                score(model, task)


def decode_to_the_end(decoder, criterion, optimizer, x, targets, device):
    decoder.to(device)
    for target in targets:
        loss = 0
        for t in target:
            out = decoder(x)
            loss += criterion(out, t)
            token = out.argmax(1)
            # trap: what comes next depends on it
            if token.item() == EOS_token:
                break
        loss.backward()
        optimizer.step()


def replay(net, memory, optimizer, steps, device):
    net.to(device)
    for _ in range(steps):
        x, y, indices = memory.sample()
        errors = (net(x) - y).abs()
        errors.mean().backward()
        optimizer.step()
        # trap: the tree that the next ones are drawn by is on the host
        memory.update_priorities(indices, errors.detach().cpu().numpy())


def share(value, ranks):
    part = value.clone()
    part /= ranks
    return part


def shares(net, loader, optimizer, told, ranks):
    net.cuda()
    for x, y in loader:
        loss = net(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        told(share(loss, ranks).item())  # expect: PLM025
        # trap: who knows where that is
        told(share(y, ranks).item())


def counted(told, counts, ranks):
    return [told(share(count, ranks)) for count in counts]
