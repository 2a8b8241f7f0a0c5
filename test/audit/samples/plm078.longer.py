import torch

BY_RATE = {}
BY_PLACE = {}
TURNED = {}
GOTTEN = {}
CAUGHT = {}
RIGHT = {}
AGAIN = {}
OTHER = {}
FILLED = {}
FOUND = {}
TRIED = {}


def by_rate(wave, size, rate):
    key = f"{size}_{rate}_{wave.device}"
    if rate not in BY_RATE:  # expect: PLM078
        BY_RATE[key] = torch.hann_window(size).to(wave.device)
    return BY_RATE[key]


def by_place(wave, size):
    key = (size, wave.device)
    if wave.device not in BY_PLACE:  # expect: PLM078
        BY_PLACE[key] = torch.hann_window(size).to(wave.device)
    return BY_PLACE[key]


def turned(wave, size):
    key = "{}_{}".format(size, wave.device)
    if key in TURNED:  # expect: PLM078
        return TURNED[key]
    TURNED[size] = torch.hann_window(size).to(wave.device)
    return TURNED[size]


def gotten(wave, size):
    window = GOTTEN.get(size)
    if window is None:  # expect: PLM078
        window = torch.hann_window(size).to(wave.device)
        GOTTEN[(size, wave.device)] = window
    return window


def caught(wave, size):
    try:
        return CAUGHT[size]  # expect: PLM078
    except KeyError:
        key = f"{size}_{wave.device}"
        CAUGHT[key] = torch.hann_window(size).to(wave.device)
        return CAUGHT[key]


def right(wave, size):
    key = f"{size}_{wave.device}"
    window = RIGHT.get(key)
    # trap: asked by the key
    if window is None:
        window = RIGHT[key] = torch.hann_window(size).to(wave.device)
    return window


def again(wave, size):
    size = f"{size}_{wave.device}"
    # trap: the longer one has the name of the shorter
    if size not in AGAIN:
        AGAIN[size] = torch.hann_window(512).to(wave.device)
    return AGAIN[size]


def other(wave, size, name):
    key = f"{size}"
    # trap: the same text
    if size not in OTHER:
        OTHER[key] = torch.hann_window(512).to(wave.device)
    return OTHER[key]


def filled(wave, size):
    # trap: put there below under the key as well
    if size in FILLED:
        return FILLED[size]
    FILLED[(size, wave.device)] = FILLED[size] = torch.hann_window(size).to(wave.device)
    return FILLED[size]


def found(wave, size):
    key = (size, wave.device)
    # trap: asked by what the key is of
    if (size, wave.device) not in FOUND:
        FOUND[key] = torch.hann_window(size).to(wave.device)
    return FOUND[key]


def tried(wave, size):
    try:
        # trap: put there under what it is asked by
        return TRIED[size, wave.device]
    except KeyError:
        TRIED[size, wave.device] = torch.hann_window(size).to(wave.device)
        return TRIED[size, wave.device]


def train(net, loader, optimizer, names):
    for wave in loader:
        wave = wave.cuda()
        out = net(wave * by_rate(wave, 512, 16000) + by_place(wave, 512) * turned(wave, 512))
        out = out * gotten(wave, 512) + caught(wave, 512) * right(wave, 512)
        out = out * again(wave, 512) + other(wave, 512, names[0]) * filled(wave, 512)
        loss = (out * found(wave, 512) * tried(wave, 512)).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
