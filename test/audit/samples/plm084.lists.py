"""What each turn enters, told by a list: the last turn's exchange is the one that knows all."""

import itertools
from contextlib import nullcontext

import torch


def chunked(model, chunks, grads, no_sync_except_last):
    if no_sync_except_last:
        contexts = [nullcontext] + [model.no_sync for _ in range(len(chunks) - 1)]  # expect: PLM084
    else:
        contexts = [nullcontext for _ in range(len(chunks))]
    for x, grad, context in zip(chunks, grads, contexts):
        with context():
            torch.dot(model(x).flatten(), grad.flatten()).backward()


def right_chunked(model, chunks, grads):
    # trap: the last of them exchanges
    contexts = [model.no_sync for _ in range(len(chunks) - 1)] + [nullcontext]
    for x, grad, context in zip(chunks, grads, contexts):
        with context():
            torch.dot(model(x).flatten(), grad.flatten()).backward()


def by_index(net, parts, optimizer):
    contexts = [nullcontext() if i == 0 else net.no_sync() for i in range(len(parts))]  # expect: PLM084
    for i, part in enumerate(parts):
        with contexts[i]:
            net(part).mean().backward()
    optimizer.step()


def right_by_index(net, parts, optimizer):
    # trap: the first alone is held back
    contexts = [net.no_sync() if i == 0 else nullcontext() for i in range(len(parts))]
    for i, part in enumerate(parts):
        with contexts[i]:
            net(part).mean().backward()
    optimizer.step()


def by_entry(net, parts, optimizer):
    contexts = [net.no_sync] * len(parts)  # expect: PLM084
    contexts[0] = nullcontext
    for context, part in zip(contexts, parts):
        with context():
            net(part).mean().backward()
    optimizer.step()


def right_by_entry(net, parts, optimizer):
    # trap: its last entry is another
    contexts = [net.no_sync] * len(parts)
    contexts[-1] = nullcontext
    for context, part in zip(contexts, parts):
        with context():
            net(part).mean().backward()
    optimizer.step()


def by_flag(net, parts, optimizer):
    flags = [True] + [False] * (len(parts) - 1)  # expect: PLM084
    for part, sync in zip(parts, flags):
        with nullcontext() if sync else net.no_sync():
            net(part).mean().backward()
    optimizer.step()


def right_by_flag(net, parts, optimizer):
    # trap: held back in all turns but the last
    flags = [True] * (len(parts) - 1) + [False]
    for part, hold in zip(parts, flags):
        with net.no_sync() if hold else nullcontext():
            net(part).mean().backward()
    optimizer.step()


def chained(net, parts, optimizer):
    contexts = itertools.chain([nullcontext()], itertools.repeat(net.no_sync()))  # expect: PLM084
    for part, context in zip(parts, contexts):
        with context:
            net(part).mean().backward()
    optimizer.step()


def never_named(net, parts, optimizer):
    contexts = [net.no_sync for _ in parts]  # expect: PLM084
    for part, context in zip(parts, contexts):
        with context():
            net(part).mean().backward()
    optimizer.step()


def never_but_once(net, parts, rest, optimizer):
    # trap: what follows exchanges all that was gathered
    contexts = [net.no_sync for _ in parts]
    for part, context in zip(parts, contexts):
        with context():
            net(part).mean().backward()
    net(rest).mean().backward()
    optimizer.step()


def appended(net, parts, optimizer):
    contexts = [nullcontext()]  # expect: PLM084
    for _ in range(len(parts) - 1):
        contexts.append(net.no_sync())
    for part, context in zip(parts, contexts):
        with context:
            net(part).mean().backward()
    optimizer.step()


def right_appended(net, parts, optimizer):
    contexts = []
    for _ in range(len(parts) - 1):
        # trap: put away here, and entered in the turns before the last
        contexts.append(net.no_sync())
    contexts.append(nullcontext())
    for part, context in zip(parts, contexts):
        with context:
            net(part).mean().backward()
    optimizer.step()


def unnamed(net, parts, optimizer):
    held = net.no_sync
    for i, (part, context) in enumerate(zip(parts, [nullcontext] + [held] * (len(parts) - 1))):  # expect: PLM084
        with context():
            net(part).mean().backward()
    optimizer.step()


def by_attribute(net, parts, optimizer):
    flags = [i == 0 for i in range(len(parts))]  # expect: PLM084
    for part, sync in zip(parts, flags):
        net.require_backward_grad_sync = sync
        net(part).mean().backward()
    optimizer.step()


def right_by_attribute(net, parts, optimizer):
    # trap: not held back in the last turn
    flags = [True] * (len(parts) - 1) + [False]
    for part, hold in zip(parts, flags):
        net.require_backward_grad_sync = not hold
        net(part).mean().backward()
    optimizer.step()


def chosen(net, parts, optimizer):
    flags = [True] + [False] * (len(parts) - 1)  # expect: PLM084
    for part, sync in zip(parts, flags):
        with (nullcontext if sync else net.no_sync)():
            net(part).mean().backward()
    optimizer.step()
