import torch
from diffusers import DDPMPipeline
from nets import Painter, Tower

device = torch.device("cuda")


def save_best(net, path):
    net.eval()
    torch.save(net.state_dict(), path)
    net.train()


def inline(train_batches, held, epochs):
    net = Tower().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in train_batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
        # trap: it is put into eval mode to be saved, and runs nothing
        save_best(net, "best.pt")
        hits = torch.zeros((), device=device)
        with torch.no_grad():  # expect: PLM023
            for x, y in held:
                hits += (net(x.to(device)).argmax(1) == y.to(device)).sum()


def averaged(train_batches, epochs):
    net = Tower().to(device)
    slow = [p.detach().clone() for p in net.parameters()]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in train_batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
        # trap: parameters are averaged, and nothing is run
        with torch.no_grad():
            for old, new in zip(slow, net.parameters()):
                old.lerp_(new, 0.01)


def queued(train_batches):
    net = Tower().to(device)
    teacher = Tower().to(device)
    queue = torch.zeros(4096, 10, device=device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (x, y) in enumerate(train_batches):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
        # trap: a part of every step
        with torch.no_grad():
            queue[step % 4096] = teacher(x.to(device))[0]


def by_hand(train_batches, held, epochs):
    net = Tower().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in train_batches:
            for p in net.parameters():
                p.grad = None
            torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
        evaluate(net, held)  # expect: PLM023


def by_hand_after(train_batches, held, epochs):
    net = Tower().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(epochs):
        for x, y in train_batches:
            torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
            for p in net.parameters():
                p.grad = None
        # trap: nothing is left
        evaluate(net, held)


def evaluate(net, held):
    return [net(x.to(device)).argmax(1).cpu() for x, _ in held]


def sampled(accelerator, train_batches, schedule, epochs):
    net = Painter().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for _ in range(epochs):
        for x, noise, t in train_batches:
            optimizer.zero_grad()
            accelerator.backward(torch.nn.functional.mse_loss(net(x, t), noise))
            optimizer.step()
        painter = DDPMPipeline(unet=net, scheduler=schedule)
        images = painter(batch_size=16).images  # expect: PLM023
        print(len(images))


def told(prompts, train_batches, epochs):
    net = Tower().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for step, batch in enumerate(train_batches):
        optimizer.zero_grad()
        net(batch.to(device)).loss.backward()
        optimizer.step()
        if step % 500 == 0:
            print(net.generate(prompts, max_new_tokens=256))  # expect: PLM023


def two_phases(first, second):
    net = Tower().to(device)
    frozen = Tower().to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in first:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
    for step, (x, y) in enumerate(second):
        if step % 4 == 0:
            # trap: asked for the backward below
            with torch.no_grad():
                wanted = frozen(x.to(device))
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x.to(device)), wanted).backward()
            optimizer.step()
