import torch
import torch.distributed as dist


def exchange(op):
    for request in dist.batch_isend_irecv([op]):
        request.wait()
    # trap: what another stage sent is waited for
    torch.cuda.synchronize()


def train(model, loader, optimizer, op):
    for x in loader:
        exchange(op)
        model(x).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()  # expect: PLM030
