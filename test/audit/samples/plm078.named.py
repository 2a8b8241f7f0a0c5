import librosa
import torch
from torch import nn

windows = {}
kept = {}


class Spectrum(nn.Module):
    def __init__(self, bins=2048, window="hann_window"):
        super().__init__()
        self.bins = bins
        self.window = getattr(torch, window)
        self.window_fn = torch.hann_window
        # trap: made once
        self.register_buffer("ready", self.window(bins), persistent=False)

    def forward(self, wave):
        window = self.window(self.bins).to(wave.device)  # expect: PLM078
        other = self.window_fn(self.bins, device=wave.device)  # expect: PLM078
        # trap: as long as the input
        longest = self.window(wave.shape[-1])
        return wave[..., : self.bins] * (window + other + self.ready) + longest.sum()


class Windowed(nn.Module):
    def forward(self, wave):
        window = windows.get(wave.device)
        if window is None:  # expect: PLM078
            window = torch.tensor([0.5, 1.0, 0.5]).to(wave.device)
        stored = kept.get(wave.device)
        # trap: it is put there
        if stored is None:
            stored = torch.tensor([0.5, 1.0, 0.5]).to(wave.device)
            kept[wave.device] = stored
        return wave * window.sum() * stored.sum()


def mel_loss(ours, theirs, rate=44100):
    basis = torch.from_numpy(librosa.filters.mel(sr=rate, n_fft=2048)).to(theirs.device)  # expect: PLM078
    return (basis @ ours.abs() - basis @ theirs.abs()).abs().mean()


def mel_picture(wave, rate=44100):
    # trap: nobody says that a step does this
    basis = torch.from_numpy(librosa.filters.mel(sr=rate, n_fft=2048)).to(wave.device)
    return basis @ wave.abs()


def make_loss(parts):
    def loss_of(ours, theirs):
        return sum(part(ours, theirs) for part in parts) + mel_loss(ours, theirs)

    return loss_of


def train(loader, optimizer, parts):
    net = nn.Sequential(Spectrum(), Windowed()).cuda()
    loss_of = make_loss(parts)
    for wave in loader:
        wave = wave.cuda(non_blocking=True)
        loss = loss_of(net(wave), wave)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
