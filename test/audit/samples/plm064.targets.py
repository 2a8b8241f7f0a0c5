from dataclasses import dataclass, field

import torch


@dataclass
class TrainerConf:
    _target_: str = "pytorch_lightning.trainer.Trainer"
    max_epochs: int = 1000
    benchmark: bool = True  # expect: PLM064
    deterministic: bool = False


@dataclass
class FabricConf:
    _target_: str = field(default="lightning.pytorch.Trainer")
    benchmark: bool = field(default=True)  # expect: PLM064


@dataclass
class QuickConf:
    _target_: str = "pytorch_lightning.Trainer"
    # trap: off
    benchmark: bool = False


@dataclass
class ReportConf:
    _target_: str = "reports.Report"
    # trap: no trainer's
    benchmark: bool = True


AS_DICT = {"_target_": "lightning.Trainer", "benchmark": True}  # expect: PLM064
AS_CALL = dict(_target_="lightning.Trainer", benchmark=True)  # expect: PLM064
# trap: another one's
OTHER = dict(_target_="reports.Report", benchmark=True)


def collate_spectrograms(batch):
    def frames(one):
        return one[0].size(1)

    longest = max(batch, key=frames)[0]
    inputs = torch.zeros(len(batch), 1, longest.size(0), longest.size(1))
    for at, (one, _) in enumerate(batch):
        inputs[at, 0, :, : one.size(1)] = one
    return inputs
