import torch
import torch.distributed as dist

dist.init_process_group("nccl")
net = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
turns = 8

# trap: once, before
dist.barrier()
for turn in range(turns):
    net(torch.rand(4, 8, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    dist.barrier()  # expect: PLM071
    if turn == 0:
        # trap: in the first turn
        dist.barrier()

for turn in range(turns):
    net(torch.rand(4, 8, device="cuda"))
    # trap: nothing is learnt here
    dist.barrier()
