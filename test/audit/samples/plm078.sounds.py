"""Filter banks in functions that a training calls with each sound."""

from functools import lru_cache

import torch
import torchaudio
from librosa.filters import mel as filters_of
from torch import nn

KEPT = {}


def mels_of(wave, rate, size, bins):
    window = torch.hann_window(size, device=wave.device)  # expect: PLM078
    spectrum = torch.stft(wave, size, window=window, return_complex=True).abs()
    filters = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins))  # expect: PLM078
    return filters.to(wave.device) @ spectrum


def by_config(wave, config):
    return torchaudio.transforms.MelSpectrogram(config.rate, n_mels=config.bins).to(wave.device)(wave)  # expect: PLM078


def looked_up(spectrum, rate, size, bins):
    # trap: made once for each key
    if (rate, bins) not in KEPT:
        KEPT[rate, bins] = torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins)).to(spectrum.device)
    return torch.matmul(KEPT[rate, bins], spectrum)


@lru_cache(maxsize=None)
def remembered(rate, size, bins):
    # trap: the decorator keeps it
    return torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=bins))


def made_for(rate, size, like):
    # trap: whoever calls it may keep what it makes
    return torch.from_numpy(filters_of(sr=rate, n_fft=size, n_mels=80)).to(like.device)


def of_each(wave, batch):
    # trap: another rate with each batch
    return torchaudio.transforms.Resample(batch["rate"], 16000)(wave)


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv1d(80, 1, 7, padding=3)

    def forward(self, mels):
        return self.layer(mels)


def train(loader, hps):
    net = Vocoder().cuda()
    net.train()
    optimizer = torch.optim.AdamW(net.parameters(), lr=hps.rate_of_learning, fused=True)
    kept = None
    for batch in loader:
        wave = of_each(batch["wave"].cuda(non_blocking=True), batch)
        wanted = mels_of(wave, hps.rate, hps.size, hps.bins)
        if kept is None:
            kept = made_for(hps.rate, hps.size, wave)
        basis = filters_of(sr=hps.rate, n_fft=hps.size, n_mels=hps.bins)  # expect: PLM078
        made = mels_of(net(wanted), hps.rate, hps.size, hps.bins) + by_config(wave, hps).mean()
        other = looked_up(wanted, hps.rate, hps.size, hps.bins) + remembered(hps.rate, hps.size, hps.bins).cuda()
        loss = (made - wanted).abs().mean() + (other @ kept).mean() + torch.from_numpy(basis).cuda().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
