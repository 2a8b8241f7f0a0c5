import copy

from accelerate import Accelerator

accelerator = Accelerator()


def start(model):
    model = accelerator.prepare(model)
    ema = copy.deepcopy(accelerator.unwrap_model(model))  # expect: PLM016
    # trap: a copy of settings
    ema_config = copy.deepcopy(accelerator.state(model))
    return ema, ema_config
