import numpy as np
import torch


def weighted(net, batch, class_weights, mean_frame, device):
    weights = torch.from_numpy(class_weights).to(device)  # likely: PLM043
    # trap: cast on the way
    mean = torch.from_numpy(mean_frame).float().to(device)
    # trap: made float32 by its name below
    scales = torch.from_numpy(batch.scales)
    scales = scales.float().to(device)
    # trap: of a list torch makes float32
    priors = torch.tensor([one.prior for one in batch.parts]).to(device)
    return net(batch.x - mean) * weights * scales * priors


class Collate:
    def collate(self, rows):
        gates = []
        for row in rows:
            gate = np.linspace(0, 1, len(row))
            gates.append(gate)
        return torch.from_numpy(np.stack(gates))  # likely: PLM043


class Loss:
    def __init__(self, mean_sigmas, device):
        # trap: a constant of a few numbers, once
        self.sigmas = torch.from_numpy(MEAN_WEIGHTS).to(device)
        self.other = torch.from_numpy(mean_sigmas).float().to(device)


class Actor:
    def act(self, obs, states, actions):
        # trap: cast on the host, sent as float32
        first = self.net(torch.from_numpy(states).float().to(self.device))
        # trap: nobody casts it
        self.net(torch.from_numpy(actions).to(self.device))
        return first, self.net(torch.from_numpy(obs).to(self.device).float())  # likely: PLM043


def by_noise(net, schedule, x, t, device):
    capped = torch.from_numpy(np.minimum(schedule.alphas_cumprod / (1 - schedule.alphas_cumprod), 5.0))
    weight = torch.from_numpy(1.0 - schedule.alphas_cumprod).to(device)  # likely: PLM043
    # trap: cast on the host
    narrow = torch.from_numpy(schedule.alphas_cumprod.astype(np.float32)).to(device)
    return (net(x, t) * weight[t] * narrow[t]).mean() + capped.float().mean().to(device)
