import torch


def fit(parts, loader, optimizer, settings):
    used = torch.zeros(512, dtype=torch.bool, device="cuda")
    for rows in loader:
        for name in parts:
            made = parts[name](rows.cuda())
            loss = made.recon_loss + settings.commit * made.commit_loss
            loss.backward()
            used[made.code_indices.unique()] = True  # expect: PLM028
            # trap: writes the same through all of them, and waits for nothing
            used[made.code_indices.flatten()] = True
        optimizer.step()
        optimizer.zero_grad()


def weighed(frames, net, loader, optimizer, args):
    for rows in loader:
        table = frames[0]
        loss = net(rows.cuda()).mean() * args.kl_loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        # trap: a table of pandas, and a setting is no loss
        print(table.names.unique(), args.names.unique())
