import torch
from torch.utils.data import DataLoader


def train(net, data, opt, device):
    net = net.cuda()
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for batch in loader:
        batch = {k: torch.cat([v, v], dim=0) if torch.is_tensor(v) else v for k, v in batch.items()}  # expect: PLM072
        loss = net(batch["sound"].to("cuda"), batch["text"].to("cuda"))
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_written(net, data, opt):
    net = net.cuda()
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for batch in loader:
        for key, value in batch.items():
            batch[key] = torch.cat([value, value])  # expect: PLM072
        loss = net(batch["sound"].to("cuda"))
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_listed(net, data, opt):
    net = net.cuda()
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for large, small in loader:
        views = [torch.cat(large), torch.stack(small)]  # expect: PLM072, PLM072
        loss = net(views[0].to("cuda")) + net(views[1].to("cuda"))
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_moved(net, data, opt):
    net = net.cuda()
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for batch in loader:
        # trap: moved first
        batch = {k: v.to("cuda") for k, v in batch.items()}
        batch = {k: torch.cat([v, v]) for k, v in batch.items()}
        loss = net(batch["sound"], batch["text"])
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_kept(net, data, opt, tell):
    net = net.cuda()
    loader = DataLoader(data, batch_size=8, pin_memory=True, num_workers=4)
    for batch in loader:
        # trap: stays on the host, to be told
        twice = {k: torch.cat([v, v]) for k, v in batch.items()}
        tell(twice["names"])
        loss = net(batch["sound"].to("cuda"))
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_unpacked(data, model, optimizer):
    for batch in DataLoader(data, batch_size=8, pin_memory=True):
        batch = {k: torch.cat([v, v.flip(-1)]) for k, v in batch.items()}  # expect: PLM072
        images, masks = batch["image"], batch["mask"]
        images = images.to("cuda", non_blocking=True)
        loss = model(images, masks.to("cuda", non_blocking=True))
        loss.backward()
        optimizer.step()


def train_counted(data, model, optimizer):
    for batch in DataLoader(data, batch_size=8, pin_memory=True):
        # trap: what is sent is the batch as it came
        pairs = {k: torch.cat([v, v.flip(-1)]) for k, v in batch.items()}
        seen, images = pairs["image"], batch["image"]
        loss = model(images.to("cuda", non_blocking=True))
        loss.backward()
        optimizer.step()
        print(seen.shape)
