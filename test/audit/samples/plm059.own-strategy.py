import torch
from lightning.pytorch import Trainer
from lightning.pytorch.strategies import FSDPStrategy
from torch import nn
from torch.distributed.fsdp import MixedPrecision
from torch.distributed.fsdp.wrap import ModuleWrapPolicy


class Saving(FSDPStrategy):
    def save_checkpoint(self, checkpoint, path, storage_options=None):
        """What is not wrapped any more."""
        torch.save(checkpoint["state_dict"], path)


class SavingQuietly(Saving):
    def teardown(self):
        pass


class ByLayers(FSDPStrategy):
    def __init__(self, **kwargs):
        super().__init__(auto_wrap_policy=ModuleWrapPolicy({nn.TransformerEncoderLayer}), **kwargs)


class OneForAll(FSDPStrategy):
    def setup_module(self, module):
        return module


def fit(model, settings):
    half = MixedPrecision(param_dtype=torch.bfloat16)
    Trainer(strategy=Saving(mixed_precision=half)).fit(model)  # expect: PLM059
    Trainer(strategy=SavingQuietly()).fit(model)  # expect: PLM059
    # trap: says which layers are units
    Trainer(strategy=Saving(auto_wrap_policy={nn.TransformerEncoderLayer})).fit(model)
    # trap: says so by itself
    Trainer(strategy=ByLayers(mixed_precision=half)).fit(model)
    # trap: sets the model up in its own way
    Trainer(strategy=OneForAll()).fit(model)
    # trap: nobody knows what is among these
    Trainer(strategy=Saving(**settings)).fit(model)
