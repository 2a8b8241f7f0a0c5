from contextlib import nullcontext

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def never(net, batches, optimizer, parts, ranks):
    net = DDP(net)
    for batch in batches:
        for micro in range(parts):
            context = net.no_sync if ranks.several and micro < parts else nullcontext  # expect: PLM084
            with context():
                net(batch[micro]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def one_too_early(net, batches, optimizer, parts):
    net = DDP(net)
    for batch in batches:
        for micro in range(parts):
            net.require_backward_grad_sync = micro + 2 == parts  # expect: PLM084
            net(batch[micro]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def counted_from_one(net, batches, optimizer, parts):
    net = DDP(net)
    for batch in batches:
        for micro in range(1, parts + 1):
            net.require_backward_grad_sync = micro >= parts + 1  # expect: PLM084
            net(batch[micro - 1]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def the_others(net, batches, optimizer):
    net = DDP(net)
    for batch in batches:
        pieces = batch.chunk(4)
        for at, piece in enumerate(pieces):
            skips = at >= len(pieces) - 1
            with net.no_sync() if skips else nullcontext():  # expect: PLM084
                net(piece).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def counted_over_all(net, batches, optimizer, parts):
    net = DDP(net)
    seen = 0
    for batch in batches:
        for piece in batch.chunk(parts):
            quiet = net.no_sync if seen % parts != 0 and dist.get_world_size() > 1 else nullcontext  # expect: PLM084
            with quiet():
                seen += 1
                net(piece).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def counted_first(net, batches, optimizer, parts):
    net = DDP(net)
    seen = 0
    for batch in batches:
        for piece in batch.chunk(parts):
            seen += 1
            # trap: counted before it is asked, it is full in the last turn
            with net.no_sync() if seen % parts != 0 else nullcontext():
                net(piece).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def counted_by_one_more(net, batches, optimizer, parts):
    net = DDP(net)
    seen = 0
    for batch in batches:
        for piece in batch.chunk(parts):
            # trap: asked of the turn that is about to be counted
            with net.no_sync() if (seen + 1) % parts != 0 else nullcontext():
                net(piece).mean().backward()
            seen += 1
        optimizer.step()
        optimizer.zero_grad()


def as_it_should_be(net, batches, optimizer, parts, ranks):
    net = DDP(net)
    for batch in batches:
        for micro in range(parts):
            # trap: the last is not below the one before the end
            context = net.no_sync if ranks.several and micro < parts - 1 else nullcontext
            with context():
                net(batch[micro]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        for micro in range(1, parts + 1):
            # trap: counted from one
            net.require_backward_grad_sync = micro == parts
            net(batch[micro - 1]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        pieces = batch.chunk(4)
        for at, piece in enumerate(pieces, start=1):
            # trap: the last is the fourth of four
            with net.no_sync() if at < len(pieces) else nullcontext():
                net(piece).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def backward_in_parts(net, batch, part, replicated):
    for begin in range(0, len(batch), part):
        piece = batch[begin : begin + part]
        last = begin + part > len(batch)
        if last or not replicated:
            loss = net(piece).mean()
        else:
            with net.no_sync():  # expect: PLM084
                loss = net(piece).mean()
        loss.backward()


def backward_in_good_parts(net, batch, part, replicated):
    for begin in range(0, len(batch), part):
        piece = batch[begin : begin + part]
        # trap: the last part ends where the batch does
        last = begin + part >= len(batch)
        if last or not replicated:
            loss = net(piece).mean()
        else:
            with net.no_sync():
                loss = net(piece).mean()
        loss.backward()


def one_window(net, stream, rounds):
    for turn in range(rounds):
        # trap: nobody knows what ten is to the number of turns
        net.require_backward_grad_sync = turn % 10 == 9
        net(next(stream)).mean().backward()


def one_step(net, stream):
    for turn in range(stream.parts):
        net.require_backward_grad_sync = turn == stream.parts - 2  # expect: PLM084
        net(next(stream)).mean().backward()


def uneven_parts(net, batch, part, settings, optimizer):
    size = len(batch)
    for index in range((size - 1) // part + 1):
        first = index == 0
        with net.no_sync() if settings.data_parallel in ["ddp"] and not first else nullcontext():  # expect: PLM084
            net(batch[index * part :][:part]).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
