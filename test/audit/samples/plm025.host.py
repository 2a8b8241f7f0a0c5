import torch

device = torch.device("cuda")


def train(agent, loader, optimizer, info):
    for samples in loader:
        samples = agent.samples_to_device(samples)
        q1, q2, loss = agent.q(samples)
        loss.backward()
        optimizer.step()
        value = loss.item()  # expect: PLM025
        info.append(q1[::10].numpy())
        info.append(q2[::10].numpy())
        # trap: they are on the host
        info.append(torch.mean(abs(q1 - q2)).item() + value)


def train_on_host(net, criterion, optimizer, images, labels):
    for at in range(0, len(images), 8):
        x = torch.Tensor(images[at : at + 8])
        y = torch.FloatTensor(labels[at : at + 8])
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        # trap: the network is fed from the host, and nothing is moved
        print(loss.item())


def train_and_log(net, criterion, optimizer, loader, get_lr, log):
    net.to(device)
    for x, y in loader:
        loss = criterion(net(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        metrics = {"loss": loss.item()}  # expect: PLM025
        metrics["lr"] = get_lr(optimizer)
        # trap: nothing is queued since the last read (a note)
        log(loss=loss.item(), metrics=metrics)  # expect: PLM025


def train_speakers(model, loader, optimizer):
    model = model.to(device)
    host = torch.device("cpu")
    for x in loader:
        embeddings = model(x.to(device)).to(host)  # expect: PLM025
        loss, _ = model.loss(embeddings)
        loss.backward()
        optimizer.step()
        # trap: computed on the host
        print(loss.item())
