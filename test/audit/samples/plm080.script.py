import torch

from data import load, sample

features = load().cuda()
noise = load().cuda()
encoder = torch.jit.load("encoder.pt").cuda().eval()
encoder.requires_grad_(False)
model = torch.nn.Linear(128, 7).cuda()
optimizer = torch.optim.Adam(model.parameters())


def train(epoch, extra):
    noise.normal_()
    with torch.no_grad():
        base = encoder(features)  # expect: PLM080
        # trap: drawn anew
        other = encoder(noise)
        # trap: given by the caller
        third = encoder(extra)
        # trap: another one in each turn of the script
        fourth = encoder(batch)
    loss = model(base + other + third + fourth).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def show():
    with torch.no_grad():
        # trap: once, at the end
        return encoder(features)


for epoch in range(200):
    batch = sample().cuda()
    train(epoch, batch)
show()
