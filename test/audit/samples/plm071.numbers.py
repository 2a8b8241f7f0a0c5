import tools
from tools import reduce_sum


def train(net, loader, optimizer, world_size):
    net.cuda()
    seen = 0
    for x, y in loader:
        scores = net(x.cuda())
        loss = scores.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown = tools.all_reduce_mean(loss.item())
        right = tools.all_reduce_mean((scores > 0).float().mean().item())  # expect: PLM071
        # trap: a sum of its own, of numbers
        seen += reduce_sum(3)
        seen += reduce_sum(4)
    # trap: once, at the end
    return tools.all_reduce_mean(seen), tools.all_reduce_mean(seen / 2), shown, right
