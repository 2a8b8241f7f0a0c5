"""A cache that two functions share, of which one asks under another key than both put there; a kept mask that is never kept."""

import torch
import torchaudio
from librosa.filters import mel as filters_of
from torch import nn

banks = {}
others = {}


def by_band(spectrum, rate, size, bins):
    place = f"{spectrum.dtype}_{spectrum.device}"
    bins_place = str(bins) + "_" + place
    # trap: the key it is put under
    if bins_place not in banks:
        banks[bins_place] = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins)).to(spectrum.device)
    return banks[bins_place] @ spectrum


def of_wave(wave, rate, size, bins):
    place = f"{wave.dtype}_{wave.device}"
    bins_place = str(bins) + "_" + place
    if bins not in banks:  # expect: PLM078
        banks[bins_place] = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins)).to(wave.device)
    return banks[bins_place] @ torch.stft(wave, size, return_complex=True).abs()


def prepare(bins, rate, size):
    others[bins] = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins))


def prepared(wave, rate, size, bins):
    key = f"{bins}_{wave.device}"
    # trap: another function puts it there under this very key
    if bins not in others:
        others[key] = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins)).to(wave.device)
    return others.get(bins, others[key]) @ wave


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = None
        self.kept = None

    def forward(self, scores):
        mask = self.mask
        if mask is None or mask.shape != scores.shape:  # expect: PLM078
            mask = 1 - torch.eye(scores.shape[0], device=scores.device)
        kept = self.kept
        # trap: what is made is kept
        if kept is None:
            kept = self.kept = 1 - torch.eye(scores.shape[0], device=scores.device)
        return (scores * mask * kept).logsumexp(1).mean()


def train(net, loader, rate):
    net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    contrast = Contrast()
    for wave in loader:
        wave = wave.cuda(non_blocking=True)
        ours = net(wave)
        to_mel = torchaudio.transforms.MelSpectrogram(rate, n_mels=128).to(wave.device)  # expect: PLM078
        loss = (to_mel(ours) - to_mel(wave)).abs().mean()
        loss = loss + (by_band(ours, rate, 1024, 80) - of_wave(wave, rate, 1024, 80)).abs().mean()
        loss = loss + prepared(ours, rate, 1024, 80).mean() + contrast(ours @ ours.t())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
