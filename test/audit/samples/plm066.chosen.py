import torch
from diffusers import AutoencoderKL


def by_name(net, loader, device, small):
    coder = AutoencoderKL.from_pretrained("some/coder").to(device)
    coder = torch.compile(coder, mode="max-autotune")
    kind = torch.optim.AdamW
    if small:
        import bitsandbytes as bnb

        kind = bnb.optim.AdamW8bit
    optimizer = kind(net.parameters(), lr=1e-4)
    for x in loader:
        z = coder.encode(x.to(device)).latent_dist.sample()  # expect: PLM066
        loss = (net(z) - z).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def by_attribute(net, loader, device, name):
    coder = AutoencoderKL.from_pretrained("some/coder").to(device)
    optimizer = getattr(torch.optim, name)(net.parameters(), lr=1e-4)
    for x in loader:
        z = coder.encode(x.to(device)).latent_dist.sample()  # expect: PLM066
        loss = (net(z) - z).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def both(net, loader, device, small):
    tuned = AutoencoderKL.from_pretrained("some/coder").to(device)
    kind = torch.optim.SGD if small else torch.optim.AdamW
    optimizer = kind(net.parameters(), lr=1e-4)
    other = kind(tuned.parameters(), lr=1e-5)
    for x in loader:
        # trap: another optimizer has it
        z = tuned.encode(x.to(device)).latent_dist.sample()
        loss = (net(z) - z).square().mean()
        optimizer.zero_grad()
        other.zero_grad()
        loss.backward()
        optimizer.step()
        other.step()


def joined(net, loader, device, small):
    learned = AutoencoderKL.from_pretrained("some/coder").to(device)
    kind = torch.optim.SGD if small else torch.optim.AdamW
    optimizer = kind([*net.parameters(), *learned.parameters()], lr=1e-4)
    for x in loader:
        # trap: the same optimizer has it
        z = learned.encode(x.to(device)).latent_dist.sample()
        loss = (net(z) - z).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
