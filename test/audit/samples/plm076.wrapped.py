import deepspeed


def train(net, trainset, data):
    engine, optimizer, trainloader, _ = deepspeed.initialize(model=net, training_data=trainset, config="ds.json")
    dataloader = data["train"].dataloader
    # trap: once
    first = next(iter(trainloader))
    for batch in trainloader:
        engine.backward(engine(batch).mean())
        engine.step()
        more = next(iter(trainloader))  # expect: PLM076
        other = next(iter(dataloader))  # expect: PLM076
        print(more, other)
    return first, optimizer
