import torch


def train(model, blocks, loader, optimizer):
    # trap: once
    model = torch.compile(model)
    # trap: each block once
    blocks = [torch.compile(block) for block in blocks]
    for at, block in enumerate(blocks):
        # trap: each block once
        blocks[at] = torch.compile(block)
    for epoch in range(3):
        fast = torch.compile(model)  # expect: PLM062
        for x in loader:
            torch.compile(fast)(x).backward()  # expect: PLM062
            optimizer.step()
