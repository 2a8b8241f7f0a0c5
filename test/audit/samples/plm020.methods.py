import torch
from diffusers import AutoencoderKL
from transformers import CLIPModel


def align(net, loader, device):
    judge = CLIPModel.from_pretrained("some/judge").to(device).eval()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    for x in loader:
        x = x.to(device)
        wanted = judge.get_image_features(pixel_values=x)  # expect: PLM020
        loss = (net(x) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def shrink(net, loader, device):
    coder = AutoencoderKL.from_pretrained("some/coder").to(device).eval()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    for x in loader:
        z = coder._encode(x.to(device))  # expect: PLM020
        loss = (net(z) - z).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def paint(net, loader, device):
    critic = CLIPModel.from_pretrained("some/critic").to(device).eval()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    for x in loader:
        # trap: gradients pass through it to what the network made
        seen = critic.get_image_features(pixel_values=net(x.to(device)))
        loss = -seen.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def still(net, loader, device):
    fixed = CLIPModel.from_pretrained("some/fixed").to(device).eval()
    fixed.requires_grad_(False)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    for x in loader:
        x = x.to(device)
        # trap: frozen by its flags
        loss = (net(x) - fixed.get_image_features(pixel_values=x)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def tuned(loader, device):
    tower = CLIPModel.from_pretrained("some/tower").to(device).eval()
    optimizer = torch.optim.AdamW(tower.parameters(), lr=1e-6, fused=True)
    for x in loader:
        # trap: it is trained, in eval mode
        loss = tower.get_image_features(pixel_values=x.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
