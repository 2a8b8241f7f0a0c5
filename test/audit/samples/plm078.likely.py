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
        # trap: a row of numbers, made where it is used
        window = torch.hann_window(args.win_length, device=wave.device)
        return torch.stft(wave, args.n_fft, window=window) @ bank


class Shifted(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad

    def forward(self, x):
        n, c, h, w = x.size()
        row = torch.linspace(-1.0, 1.0, h + 2 * self.pad, device=x.device, dtype=x.dtype)[:h]  # likely: PLM078
        row = row.unsqueeze(0).repeat(h, 1).unsqueeze(2)
        return nn.functional.grid_sample(x, torch.cat([row, row.transpose(1, 0)], dim=2).repeat(n, 1, 1, 1))


class RelPosEnc(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.register_buffer("table", torch.zeros(1, size, width))

    def forward(self, batch_size, seq_len, hidden_len):
        return self.table[:, hidden_len : hidden_len + seq_len].repeat(batch_size, 1, 1)


class Relative(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.rel_pos_enc = RelPosEnc(size, width)

    def forward(self, x, hidden):
        # trap: a layer that looks up what it keeps
        return x + self.rel_pos_enc(x.size(0), x.size(1), x.size(1) - hidden.size(1))


class Placed(nn.Module):
    def forward(self, images, steps, pops):
        ht, wd = images.shape[-2:]
        # trap: rows of numbers, made where they are used
        pos = torch.linspace(-0.5, 0.5, images.shape[3], device=images.device)
        return images + pos, 0.5 ** torch.arange(self.max_steps, device=images.device)


class Gated(nn.Module):
    def forward(self, x):
        B, N, C = x.shape
        self.get_rel_indices(N)  # likely: PLM078
        if not hasattr(self, "rows"):
            # trap: made once
            self.get_rows(N)
        # trap: it asks by itself
        self.keep_columns(N)
        return x + self.rel_indices + self.rows + self.columns

    def get_rel_indices(self, n):
        steps = torch.arange(n)
        self.rel_indices = (steps[None, :] - steps[:, None]).to(self.proj.weight.device)

    def get_rows(self, n):
        self.rows = torch.arange(n).to(self.proj.weight.device)

    def keep_columns(self, n):
        if self.columns.shape[0] != n:
            self.columns = torch.arange(n).to(self.proj.weight.device)
