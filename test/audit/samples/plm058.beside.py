from torch.nn.parallel import DistributedDataParallel


def beside(net, rank, **settings):
    # trap: whether gradients are views, the settings may say
    return DistributedDataParallel(
        net,
        device_ids=[rank],
        find_unused_parameters=True,  # expect: PLM058
        **settings,
    )


def put_in(net, settings):
    settings["find_unused_parameters"] = True  # expect: PLM058
    return DistributedDataParallel(net, **settings)


def by_default(net, **settings):
    settings.setdefault("find_unused_parameters", True)  # expect: PLM058
    return DistributedDataParallel(net, **settings)


def opened(net, settings):
    settings = {"find_unused_parameters": True, **settings}  # expect: PLM058
    return DistributedDataParallel(net, **settings)


def called(net, settings):
    return DistributedDataParallel(net, **dict(settings, find_unused_parameters=True))  # expect: PLM058


def off(net, settings):
    # trap: not searched
    settings["find_unused_parameters"] = False
    return DistributedDataParallel(net, **settings)


def taken_out(net, settings):
    settings["find_unused_parameters"] = True
    if net.static:
        # trap: some are without it again
        del settings["find_unused_parameters"]
    return DistributedDataParallel(net, **settings)


def read(net, settings):
    # trap: only asked
    if settings["find_unused_parameters"]:
        print("searches")
    return DistributedDataParallel(net, **settings)
