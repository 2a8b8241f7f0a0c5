import torch
import torchaudio
from tables import get_2d_sincos_table
from torch import nn


class NeverRaised(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", torch.arange(0, dim, 2).float())
        self.known = 0

    def build(self, length, device):
        angles = torch.outer(torch.arange(length, device=device).float(), self.rates)
        self.register_buffer("table", angles.cos(), persistent=False)

    def forward(self, x):
        if x.shape[1] > self.known:  # expect: PLM078
            self.build(x.shape[1], x.device)
        return x * self.table[: x.shape[1]]


class Raised(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", torch.arange(0, dim, 2).float())
        self.reach = 0

    def build(self, length, device):
        self.reach = length
        angles = torch.outer(torch.arange(length, device=device).float(), self.rates)
        self.register_buffer("table", angles.cos(), persistent=False)

    def forward(self, x):
        # trap: raised by what it calls
        if x.shape[1] > self.reach:
            self.build(x.shape[1], x.device)
        return x * self.table[: x.shape[1]]


class Limit(nn.Module):
    def __init__(self, least=0):
        super().__init__()
        self.least = least

    def forward(self, x):
        # trap: a setting
        if x.shape[1] > self.least:
            x = torch.relu(x)
        return x


class ByText(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {}

    def near(self, n, device):
        if n not in self.kept:  # expect: PLM078
            at = torch.arange(n, device=device)
            self.kept[str(n)] = at[None].clamp(max=8) * at[:, None].clamp(max=8)
        return self.kept[str(n)]

    def forward(self, x):
        return x + self.near(x.shape[1], x.device)


class ByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.named = {}

    def near(self, name, device):
        # trap: a name is its own text
        if name not in self.named:
            self.named[str(name)] = torch.ones(8, device=device)
        return self.named[str(name)]

    def forward(self, x, name):
        return x + self.near(name, x.device)


class NeverHad(nn.Module):
    def hide(self, n, device):
        if hasattr(self, "hidden") and self.hidden.shape[-1] >= n:  # expect: PLM078
            return self.hidden[:n, :n]
        hidden = torch.ones((n, n), device=device).triu(1)
        return hidden

    def forward(self, x):
        return x.masked_fill(self.hide(x.shape[1], x.device).bool(), 0)


class Had(nn.Module):
    def hide(self, n, device):
        # trap: kept as a buffer
        if hasattr(self, "shade") and self.shade.shape[-1] >= n:
            return self.shade[:n, :n]
        shade = torch.ones((n, n), device=device).triu(1)
        self.register_buffer("shade", shade, persistent=False)
        return shade

    def forward(self, x):
        return x.masked_fill(self.hide(x.shape[1], x.device).bool(), 0)


def create_window(size, channels):
    line = torch.tensor([0.5**at for at in range(size)])
    return (line[:, None] @ line[None])[None, None].expand(channels, 1, size, size).contiguous()


class Alike(nn.Module):
    def __init__(self, size=11):
        super().__init__()
        self.size = size

    def forward(self, x, y):
        window = create_window(self.size, x.size(1)).to(x.device)  # expect: PLM078
        return (nn.functional.conv2d(x - y, window, groups=x.size(1)) ** 2).mean()


class AlikeKept(nn.Module):
    def __init__(self, size=11):
        super().__init__()
        self.size = size
        self.window = create_window(size, 1)

    def forward(self, x, y):
        if self.window.shape[0] != x.size(1):
            # trap: for another number of channels, and kept
            self.window = create_window(self.size, x.size(1)).to(x.device)
        return (nn.functional.conv2d(x - y, self.window, groups=x.size(1)) ** 2).mean()


class Patches(nn.Module):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def forward(self, x):
        places = get_2d_sincos_table(x.shape[-1], int(self.side**0.5), with_first=True)  # expect: PLM078
        # trap: as long as the input
        others = get_2d_sincos_table(self.side, x.shape[1])
        return x + torch.from_numpy(places).to(x.device) + torch.from_numpy(others).to(x.device)


def sound_loss(ours, theirs, rate=22050):
    total = 0
    for n_fft, n_mels in [(512, 40), (1024, 80)]:
        to_mel = torchaudio.transforms.MelSpectrogram(sample_rate=rate, n_fft=n_fft, n_mels=n_mels).to(ours.device)  # expect: PLM078
        total = total + (to_mel(ours) - to_mel(theirs)).abs().mean()
    return total


def noise_loss(net, x, low=1e-4, high=0.02):
    rates = torch.linspace(low, high, 1000, device=x.device)  # expect: PLM078
    kept = (1 - rates).cumprod(0)[torch.randint(0, 1000, (x.size(0),), device=x.device)]
    return ((net(x * kept[:, None]) - x) ** 2).mean()


def drawn_loss(net, x, low, high):
    # trap: between what each call says
    rates = torch.linspace(low, high, 1000, device=x.device)
    return ((net(x * rates[: x.shape[1]]) - x) ** 2).mean()


def train(net, batches, optimizer):
    for x, wave in batches:
        loss = noise_loss(net, x.cuda()) + sound_loss(net(wave.cuda()), wave.cuda())
        loss = loss + drawn_loss(net, x.cuda(), loss.item(), 1.0)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Looking(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        self._anchors = {}
        self._kept = {}

    def forward(self, x, wanted=None):
        if self.training:
            return nn.functional.mse_loss(self.heads(x), wanted)
        else:
            return self.look(x), self.again(x)

    def look(self, x):
        anchors = self._anchors.get(x.device)
        if anchors is None:  # likely: PLM078
            anchors = get_2d_sincos_table(64, 64).to(x.device)
        return self.heads(x) + anchors

    def again(self, x):
        kept = self._kept.get(x.device)
        # trap: put there
        if kept is None:
            kept = self._kept[x.device] = get_2d_sincos_table(64, 64).to(x.device)
        return self.heads(x) + kept
