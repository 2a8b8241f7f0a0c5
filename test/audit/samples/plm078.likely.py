import torch
import torch.nn as nn

from tables import get_2d_sincos_pos_embed, mel_filter_bank_for


class Decoder(nn.Module):
    def __init__(self, cfg, layers):
        super().__init__()
        self.cfg = cfg
        self.layers = layers

    def forward(self, x):
        grid = int((x.shape[1] - 1) ** 0.5)
        table = get_2d_sincos_pos_embed(x.shape[-1], grid, cls_token=True)  # likely: PLM078
        x = x + torch.from_numpy(table).float().unsqueeze(0).to(x.device)
        return self.layers(x)


class Attended(nn.Module):
    def forward(self, x, timesteps):
        # trap: the waves are those of this step
        waves = torch.sin(timesteps[:, None] * torch.arange(64, device=x.device))
        # trap: made for a batch of another length each time, and cheap
        where = torch.arange(x.shape[0], device=x.device)
        return x + waves + where


class Keeping(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.table = None

    def forward(self, x):
        # trap: made once
        if self.table is None:
            self.table = get_2d_sincos_pos_embed(x.shape[-1], self.size)
        return x + self.table


class Mel(nn.Module):
    def forward(self, wave, args):
        bank = mel_filter_bank_for(args.sample_rate, args.n_fft, 80)
        window = torch.hann_window(args.win_length, device=wave.device)  # likely: PLM078
        return torch.stft(wave, args.n_fft, window=window) @ bank
