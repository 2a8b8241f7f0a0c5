import librosa
import torch

banks = {}
tapers = {}
kept_banks = {}
kept_tapers = {}
rows = {}
kept_rows = {}


def bands(wave, size, count):
    key = (size, count, wave.device)
    if key in banks:  # expect: PLM078
        bank = banks[key]
        taper = tapers[key]
    else:
        bank = torch.from_numpy(librosa.filters.mel(sr=24000, n_fft=size, n_mels=count)).to(wave.device)
        taper = torch.hann_window(size).to(wave.device)
    return bank @ torch.stft(wave, size, window=taper, return_complex=True).abs()


def kept_bands(wave, size, count):
    key = (size, count, wave.device)
    # trap: what is missing is put there
    if key in kept_banks:
        bank = kept_banks[key]
        taper = kept_tapers[key]
    else:
        kept_banks[key] = bank = torch.from_numpy(
            librosa.filters.mel(sr=24000, n_fft=size, n_mels=count)
        ).to(wave.device)
        kept_tapers[key] = taper = torch.hann_window(size).to(wave.device)
    return bank @ torch.stft(wave, size, window=taper, return_complex=True).abs()


def row(n, device):
    try:
        return rows[n]  # expect: PLM078
    except KeyError:
        return torch.arange(n).to(device)


def kept_row(n, device):
    try:
        # trap: it is put there
        return kept_rows[n]
    except KeyError:
        kept_rows[n] = torch.arange(n).to(device)
        return kept_rows[n]


def train(net, loader, optimizer):
    net.cuda()
    for wave in loader:
        wave = wave.cuda()
        ours = net(wave)
        error = (bands(ours, 1024, 80) - bands(wave, 1024, 80)).abs().mean()
        error = error + (kept_bands(ours, 1024, 80) - kept_bands(wave, 1024, 80)).abs().mean()
        error = error + row(len(ours), ours.device).sum() + kept_row(len(ours), ours.device).sum()
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
