import torch


def clear(optimizer):
    optimizer.zero_grad()
    # trap: after an out-of-memory error
    torch.cuda.empty_cache()


def train(model, loader, optimizer):
    for batch in loader:
        found_cuda_oom = attempt(model, batch)
        if found_cuda_oom == 1:
            clear(optimizer)
            continue
        model(batch).sum().backward()
        optimizer.step()
        torch.cuda.empty_cache()  # expect: PLM031


class Block(torch.nn.Module):
    def forward(self, x, inplace=False, offload=False):
        if offload and inplace:
            # trap: off unless someone asks for both
            torch.cuda.empty_cache()
        return x
