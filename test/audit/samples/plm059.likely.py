from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision


class Worker:
    def build(self, config, device):
        settings = config.fsdp_settings()
        self.core = FullyShardedDataParallel(config.make(), device_id=device, **settings)  # likely: PLM059
        return self.core
