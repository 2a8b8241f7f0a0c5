import torch
import torch.nn.functional as F


def perceptual(model, vgg, loader, optimizer):
    model.train()
    vgg.eval()
    for x in loader:
        made = model(x)
        loss = F.l1_loss(vgg(made), x)  # expect: PLM066
        loss.backward()
        optimizer.step()


def adversarial(generator, discriminator, loader, opt_g, opt_d):
    generator.train()
    discriminator.train()
    for x, z in loader:
        fake = generator(z)
        d_loss = F.softplus(-discriminator(x)).mean() + F.softplus(discriminator(fake.detach())).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = F.softplus(-discriminator(fake)).mean()  # expect: PLM066
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()


def probe(backbone, head, loader):
    backbone.train()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in loader:
        loss = F.cross_entropy(head(backbone(x)), y)  # expect: PLM066
        loss.backward()
        optimizer.step()


def quiet(backbone, head, loader):
    backbone.train()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for x, y in loader:
        with torch.no_grad():
            # trap: nothing is recorded
            features = backbone(x)
        F.cross_entropy(head(features), y).backward()
        optimizer.step()


def whole(model, loader):
    model.train()
    # trap: all of it learns
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


def one_network(model, loader, optimizer):
    model.train()
    for x in loader:
        # trap: one network, twice
        loss = model(model(x)).mean()
        loss.backward()
        optimizer.step()
