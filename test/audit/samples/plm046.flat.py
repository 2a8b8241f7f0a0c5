import torch
import torch.nn.functional as F


def shaped_before(net, loader, optimizer, device):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        for batch in loader:
            source = batch["source_ids"].to(device)
            target_ids = batch["target_ids"].to(device).reshape(-1)
            outputs = net(source)
            outputs = outputs.view(target_ids.numel(), -1)
            loss = F.cross_entropy(outputs.float(), target_ids)  # expect: PLM046
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def next_one(net, windows, optimizer, device, seq_len):
    for rows in windows:
        x, y = rows[:, :seq_len].to(device), rows[:, 1 : seq_len + 1].to(device)
        out = net(x)
        loss = F.cross_entropy(out.float().flatten(0, 1), y.reshape(-1))  # expect: PLM046
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def of_pictures(net, loader, optimizer, device):
    for pictures, wanted in loader:
        scores = net(pictures.to(device))
        # trap: one row for each picture, as they came
        loss = F.cross_entropy(scores.float(), wanted.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
