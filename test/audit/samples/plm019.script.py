import torch
from nets import load
from torch.utils.data import DataLoader
from tqdm import tqdm

net = load("best.pt").cuda()
loader = DataLoader(torch.load("test.pt"), batch_size=64, num_workers=4, pin_memory=True)

net.eval()
right = 0
with tqdm(total=len(loader)) as bar:
    for x, y in loader:
        out = net(x.cuda(non_blocking=True))  # expect: PLM019
        right += (out.argmax(1).cpu() == y).sum().item()
        bar.update(1)

with torch.no_grad():
    for x, y in loader:
        # trap: nothing is recorded
        right += (net(x.cuda(non_blocking=True)).argmax(1).cpu() == y).sum().item()

models = [load("first.pt").cuda(), load("second.pt").cuda()]


def evaluate_first(models, loader):
    right = 0
    for x, y in loader:
        out = models[0](x.cuda(non_blocking=True))  # expect: PLM019
        right += (out.argmax(1).cpu() == y).sum().item()
    return right


print(evaluate_first(models, loader))

for _ in range(100):
    # trap: a benchmark, of what it has made up
    net(torch.ones(1, 8, device="cuda")).cpu().detach()
