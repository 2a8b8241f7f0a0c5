import os

import torch
import torch.distributed as dist

torch.empty(1, device="cuda", requires_grad=True).backward()  # expect: PLM082

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group(backend="nccl", device_id=device)
# trap: the rank has chosen above
model = torch.nn.Linear(8, 8).cuda()
print(model(torch.zeros(2, 8, device="cuda")))
