import torch
from torchvision.utils import save_image

model = VAE().cuda()
optimizer = torch.optim.Adam(model.parameters())


def train(loader):
    for x in loader:
        loss = model(x.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


for epoch in range(10):
    train(loader)
    sample = torch.randn(64, 20).cuda()
    drawn = model.decode(sample).cpu()  # likely: PLM019
    save_image(drawn, "sample.png")
    with torch.no_grad():
        # trap: nothing is recorded
        still = model.decode(sample).cpu()
    # trap: what is drawn is no network
    noise = torch.tanh(sample).cpu()
