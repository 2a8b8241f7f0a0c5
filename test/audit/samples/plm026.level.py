from tqdm import tqdm


def fit(net, criterion, loader, optimizer, log_level):
    net.cuda()
    bar = tqdm(loader)
    for images, labels in bar:
        loss = criterion(net(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if log_level > 0:
            values = [f"{loss:.3f}"]  # expect: PLM026
            bar.set_description(" ".join(values))
        if log_level > 2:
            # trap: few ask for that much
            bar.set_postfix(loss=loss)


def quiet(net, criterion, loader, optimizer, log_level=0):
    net.cuda()
    for images, labels in loader:
        loss = criterion(net(images.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if log_level > 0:
            # trap: nothing is told unless someone asks
            print(loss)
