import torch


def train(model, batches, estimate, optimizer, steps):
    model = model.to("cuda")
    for step in range(steps):
        if step == 0:
            # trap: once
            model = torch.compile(model)
        x, y = next(batches)
        loss = (model(x.to("cuda")) - y.to("cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 500 == 0:
            judge = torch.compile(model)  # expect: PLM062
            print(estimate(judge))
