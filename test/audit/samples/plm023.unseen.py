import torch


def train(net, draw, optimizer, steps):
    for step in range(steps):
        net.train()
        optimizer.zero_grad()
        for _ in range(4):
            net(draw("train").cuda(), replay_backward=True)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        if step % 100 == 0:
            net.eval()  # expect: PLM023
            with torch.no_grad():
                print(net(draw("held")).item())


def cleared(net, draw, optimizer, steps):
    for step in range(steps):
        net.train()
        for _ in range(4):
            net(draw("train").cuda(), replay_backward=True)
        optimizer.step()
        # trap: gone before the evaluation
        optimizer.zero_grad()
        if step % 100 == 0:
            net.eval()
            with torch.no_grad():
                print(net(draw("held")).item())
