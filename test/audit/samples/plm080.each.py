"""Several networks, asked one after the other in each step of what optimises an image."""

import torch


def invert(generator, image, extractors, transforms, steps, optimizer, latent):
    for _ in range(steps):
        fake = generator(latent)
        optimizer.zero_grad()
        for i in range(len(extractors)):
            ours = extractors[i](transforms[i](fake))
            with torch.no_grad():
                wanted = extractors[i](transforms[i](image.to(latent.device)))  # likely: PLM080
            ((ours - wanted) ** 2).mean().backward(retain_graph=True)
        optimizer.step()


def invert_paired(generator, image, extractors, transforms, steps, optimizer, latent):
    step = 0
    while step < steps:
        fake = generator(latent)
        loss = 0
        for extractor, prepare in zip(extractors, transforms):
            with torch.no_grad():
                wanted = extractor(prepare(image))  # likely: PLM080
                # trap: of what this step made
                seen = extractor(prepare(fake)).std()
            loss = loss + ((extractor(prepare(fake)) - wanted) ** 2).mean() / seen
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1


def invert_listed(generator, image, teachers, steps, optimizer, latent):
    for step in range(steps):
        fake = generator(latent)
        with torch.no_grad():
            wanted = [teacher(image) for teacher in teachers]  # likely: PLM080
        loss = sum((teacher(fake) - one).pow(2).mean() for teacher, one in zip(teachers, wanted))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def distil(student, loader, teachers, optimizer):
    for x in loader:
        with torch.no_grad():
            # trap: of what the batch brings
            wanted = [teacher(x.cuda()) for teacher in teachers]
        loss = sum((student(x.cuda()) - one).pow(2).mean() for one in wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def ensemble(nets, x, y, steps, optimizer):
    for step in range(steps):
        for net in nets:
            with torch.no_grad():
                # trap: they are what learns
                before = net(x)
            loss = (net(x) - y).pow(2).mean() + before.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
