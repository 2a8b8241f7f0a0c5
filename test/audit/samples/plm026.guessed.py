import torch.nn.functional as F


class Watcher:
    def on_batch_end(self, outputs, labels, bar):
        print(outputs)  # likely: PLM026
        bar.set_postfix(right=(outputs == labels).float().mean())  # likely: PLM026


def train(net, agent, loader, optimizer, debug):
    net.cuda()
    for images, labels in loader:
        loss = F.cross_entropy(net(images.cuda()), labels.cuda())
        loss.backward()
        optimizer.step()
        if debug:
            # trap: seldom asked for
            print(loss)
        # trap: what learns by itself hands back numbers
        told = agent.update(images)
        print(told["loss"])
