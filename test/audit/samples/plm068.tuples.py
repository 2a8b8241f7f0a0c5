import torch


def train(net, loader, optimizer, device):
    net.to(device)
    for batch in loader:
        # trap: of the host, before anything is sent
        most = batch[1].sum(dim=1).max()
        rows = [row[:most] for row in batch[2]]
        batch = tuple(t.to(device) for t in batch)
        inputs = {"input_ids": batch[0], "attention_mask": batch[1], "names": rows, "longest": 0}
        inputs["longest"] = int(most)
        longest = inputs["attention_mask"].sum(dim=1).max()
        inputs["input_ids"] = inputs["input_ids"][:, :longest]  # expect: PLM068
        # trap: a number of the host
        inputs["names"] = inputs["names"][: inputs["longest"]]
        loss = net(**inputs)[0]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def crop(net, loader, optimizer, device):
    net.to(device)
    for tokens, lengths in loader:
        tokens = tokens.to(device)
        lengths = lengths.to(device)
        places = torch.arange(0, torch.max(lengths), device=device)  # expect: PLM068
        # trap: a row for each, and no number
        longest, at = torch.max(tokens, 1)
        kept = torch.minimum(longest, at)
        net(tokens, places, kept).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
