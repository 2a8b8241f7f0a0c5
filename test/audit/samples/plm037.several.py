from torch.utils.data import DataLoader


def train(net, sets, optimizer, steps, device="cuda"):
    packs = {}
    for size in (256, 512):
        loader = DataLoader(sets[size], num_workers=4, pin_memory=True)
        packs[size] = {"batches": iter(loader), "texts": iter(DataLoader(sets[0]))}
    for _ in range(steps):
        for size, pack in packs.items():
            images = [image.to(device) for image in next(pack["batches"])]  # expect: PLM037
            # trap: this one does not pin
            texts = next(pack["texts"]).to(device)
            loss = net(images, texts)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def by_name(net, sets, optimizer, device="cuda"):
    loaders = {name: DataLoader(one, pin_memory=True) for name, one in sets.items()}
    mixed = [DataLoader(sets["a"], pin_memory=True), DataLoader(sets["b"])]
    for name, loader in loaders.items():
        for x in loader:
            loss = net(x.to(device))  # expect: PLM037
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    for loader in mixed:
        for x in loader:
            # one of them does not pin
            loss = net(x.to(device))  # likely: PLM037
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
