from torch.nn.parallel import DistributedDataParallel


def outside(net: DistributedDataParallel, draw, optimizer, parts, last):
    done = 0
    while done < last:
        for _ in range(parts):
            net.require_backward_grad_sync = (done + 1) % parts == 0  # expect: PLM084
            (net(draw()).mean() / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
        done += 1


def inside(net: DistributedDataParallel, draw, optimizer, parts, last):
    done = 0
    while done < last:
        for _ in range(parts):
            # trap: counted by the parts themselves
            net.require_backward_grad_sync = (done + 1) % parts == 0
            (net(draw()).mean() / parts).backward()
            done += 1
        optimizer.step()
        optimizer.zero_grad()


def asked(net: DistributedDataParallel, draw, optimizer, parts, last):
    done = 0
    while done < last:
        for _ in range(parts):
            # trap: the optimizer steps by the same count
            net.require_backward_grad_sync = (done + 1) % parts == 0
            (net(draw()).mean() / parts).backward()
        if (done + 1) % parts == 0:
            optimizer.step()
            optimizer.zero_grad()
        done += 1


class Counting:
    def run(self, draw, parts):
        while self.done < self.last:
            for _ in range(parts):
                self.net.require_backward_grad_sync = self.done % parts == 0  # expect: PLM084
                (self.net(draw()).mean() / parts).backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.done += 1
