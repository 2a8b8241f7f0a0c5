import copy

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def build(model, device):
    average = FSDP(copy.deepcopy(model).to(device).requires_grad_(False))  # expect: PLM059
    model = FSDP(model.to(device), use_orig_params=True)  # expect: PLM059
    return model, average


class Trainer:
    def __init__(self, actor_model, reference_model):
        self.actor_model = actor_model
        self.reference_model = reference_model

    def shard(self):
        self.actor_model = FSDP(self.actor_model.cuda())  # expect: PLM059
        self.reference_model = FSDP(self.reference_model.cuda().eval())  # expect: PLM059
