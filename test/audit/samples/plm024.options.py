import argparse
from dataclasses import dataclass

import torch


@dataclass
class Args:
    find_nans: bool = True
    debug: bool = False


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anomalies", default=True, type=bool)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--careful", default=True, type=bool)
    return parser.parse_args()


def main(config: Args):
    args = parse()
    torch.autograd.set_detect_anomaly(args.anomalies)  # expect: PLM024
    # trap: off unless it is turned on
    torch.autograd.set_detect_anomaly(args.trace)
    torch.autograd.set_detect_anomaly(mode=config.find_nans)  # expect: PLM024
    # trap: off by default
    torch.autograd.set_detect_anomaly(config.debug)
    args.careful = False
    # trap: the program says otherwise
    torch.autograd.set_detect_anomaly(args.careful)
