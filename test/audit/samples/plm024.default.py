import torch


def configure(anomalies=True):
    torch.autograd.set_detect_anomaly(anomalies)  # expect: PLM024


def quiet(anomalies=False):
    # trap: off unless asked for
    torch.autograd.set_detect_anomaly(anomalies)


def told(anomalies=True):
    # trap: whoever calls it says so
    torch.autograd.set_detect_anomaly(anomalies)


def unused(anomalies=True):
    # trap: called by nobody here
    torch.autograd.set_detect_anomaly(anomalies)


def main(args):
    configure()
    quiet()
    told(args.anomalies)
    told(anomalies=False)
