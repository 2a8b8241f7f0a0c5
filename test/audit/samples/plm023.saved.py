import copy

import torch
import torch.nn.functional as F
from metrics import Evaluator, get_evaluation


def train(net, loader, optimizer, device, path):
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        out = net(x.to(device))
        F.cross_entropy(out, y.to(device)).backward()
        optimizer.step()
        # trap: a metric of arrays
        told = get_evaluation(y.cpu().numpy(), out.detach().cpu().numpy(), metrics=["accuracy"])
        print(told)
        if step % 100 == 0:
            # trap: for a file
            net.eval().cpu()
            name = path + "/" + str(step)
            torch.save(net.state_dict(), name)
            net.to(device).train()


def snapshot(net, loader, optimizer, device, path):
    kept = []
    for x, y in loader:
        optimizer.zero_grad()
        out = net(x.to(device))
        F.cross_entropy(out, y.to(device)).backward()
        optimizer.step()
        kept.append((out.detach(), y))
    evaluator = Evaluator()
    # trap: a metric of what is there
    print(evaluator.eval({"y_pred": kept, "y_true": kept}))
    # trap: a copy, for a file
    torch.save(copy.deepcopy(net).eval().cpu(), path)


def judged(net, loader, test_loader, optimizer, device, path):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x.to(device)), y.to(device)).backward()
        optimizer.step()
    net.eval()  # expect: PLM023
    right = 0
    with torch.no_grad():
        for x, y in test_loader:
            right += (net(x.to(device)).argmax(-1) == y.to(device)).sum()
    torch.save(net.state_dict(), path)
    return right
