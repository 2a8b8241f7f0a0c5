import torch
from torch.nn.parallel import DistributedDataParallel


def searched(net, rank):
    settings = dict(device_ids=[rank], gradient_as_bucket_view=True)
    settings["find_unused_parameters"] = True  # expect: PLM058
    return DistributedDataParallel(net, **settings)


def put_in_later(net, rank):
    settings = {"device_ids": [rank]}
    settings["gradient_as_bucket_view"] = True
    # trap: all is said
    return DistributedDataParallel(net, **settings)


def taken_out(net, rank):
    settings = {"device_ids": [rank], "gradient_as_bucket_view": True, "find_unused_parameters": True}
    del settings["find_unused_parameters"]
    # trap: nobody asks for it any more
    return DistributedDataParallel(net, **settings)


def filled_elsewhere(net, rank, more):
    settings = {"device_ids": [rank]}
    settings.update(more)
    # trap: who knows what comes along
    return DistributedDataParallel(net, **settings)


def by_any_key(net, rank, key):
    settings = {"device_ids": [rank]}
    settings[key] = torch.cuda.is_available()
    # trap: nor here
    return DistributedDataParallel(net, **settings)
