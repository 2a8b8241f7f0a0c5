"""What has no parameters is in no optimizer, whatever it is called."""

import torch

device = torch.device("cuda")
model = torch.nn.Linear(8, 8).to(device)
judge = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.Adam(model.parameters())
lossF = torch.nn.MSELoss()
distF = torch.nn.SmoothL1Loss().to(device)
for data in torch.utils.data.DataLoader(range(8)):
    optimizer.zero_grad()
    output = model(data)
    first = lossF(output, data)  # trap: a loss
    second = distF(output, data)  # trap: a loss, moved
    third = judge(output).mean()  # expect: PLM066
    loss = first + second + third
    loss.backward()
    optimizer.step()
