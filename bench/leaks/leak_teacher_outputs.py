import torch
from torch import nn

teacher = nn.Sequential(nn.Linear(30, 90), nn.ReLU(), nn.Linear(90, 10)).eval()
student = nn.Sequential(nn.Linear(30, 30), nn.ReLU(), nn.Linear(30, 10))
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
soft_targets = []
for step in range(150):
    x = torch.randn(32, 30)
    with torch.no_grad():
        soft = teacher(x).softmax(-1)
    soft_targets.append(soft)  # leak
    loss = nn.functional.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
