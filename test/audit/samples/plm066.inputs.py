import torch
import torch.nn.functional as F
from torch import nn

from nets import get_network


def distill(args, loader):
    images = torch.randn(100, 3, 32, 32, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([images], lr=args.lr)
    for real, _ in loader:
        net = get_network(args.model).to(args.device)
        net.train()
        embed = net.module.embed if torch.cuda.device_count() > 1 else net.embed
        wanted = embed(real.cuda()).detach()
        made = embed(images)  # likely: PLM066
        loss = (wanted.mean(0) - made.mean(0)).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def of_frozen(args, loader):
    images = torch.randn(100, 3, 32, 32, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([images], lr=args.lr)
    for real, _ in loader:
        frozen = get_network(args.model).to(args.device)
        frozen.train()
        for param in list(frozen.parameters()):
            param.requires_grad = False
        # trap: its own gradients are off
        loss = (frozen(images) - frozen(real.cuda()).detach()).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def handed(args, judge, target):
    image = torch.rand(1, 3, 64, 64, device="cuda", requires_grad=True)
    optimizer = torch.optim.Adam([image], lr=args.lr)
    for _ in range(args.steps):
        # trap: whoever hands it in may have frozen it
        loss = F.mse_loss(judge(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def both(args, loader):
    pose = torch.zeros(6, device="cuda", requires_grad=True)
    field = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 3)).cuda()
    of_pose = torch.optim.Adam([pose], lr=args.lr)
    of_field = torch.optim.Adam(field.parameters(), lr=args.lr, fused=True)
    for _, color in loader:
        # trap: another optimizer has its parameters
        loss = F.mse_loss(field(pose), color.cuda())
        of_pose.zero_grad()
        of_field.zero_grad()
        loss.backward()
        of_pose.step()
        of_field.step()
