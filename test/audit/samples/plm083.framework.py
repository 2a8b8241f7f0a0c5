import time

import torch
from transformers import Trainer


class Timed(Trainer):
    def training_step(self, *args, **kwargs):
        begun = time.perf_counter()
        loss = super().training_step(*args, **kwargs)
        self.log({"seconds": time.perf_counter() - begun})  # expect: PLM083
        return loss


class Waiting(Trainer):
    def training_step(self, *args, **kwargs):
        begun = time.perf_counter()
        loss = super().training_step(*args, **kwargs)
        # trap: it waits for the device
        torch.cuda.synchronize()
        self.log({"seconds": time.perf_counter() - begun})
        return loss

    def log(self, *args, **kwargs):
        begun = time.perf_counter()
        super().log(*args, **kwargs)
        # trap: no work of the device
        print(time.perf_counter() - begun)


class Plain(dict):
    def training_step(self, *args):
        begun = time.perf_counter()
        super().training_step(*args)
        # trap: of we know not what
        return time.perf_counter() - begun


def run(model, args):
    return Timed(model=model.to("cuda"), args=args).train()
