import torch

debug = True
quiet = False
torch.autograd.set_detect_anomaly(debug)  # likely: PLM024
# trap: switched off
torch.autograd.set_detect_anomaly(quiet)


def look(flag):
    # trap: whoever asks decides
    torch.autograd.set_detect_anomaly(flag)
