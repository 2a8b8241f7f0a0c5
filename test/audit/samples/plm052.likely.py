import functools

from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, checkpoint_wrapper


def wrap(model):
    for p in model.encoder.parameters():
        p.requires_grad = False
    # trap: the path that needs no gradients in its inputs
    model.head = checkpoint_wrapper(model.head, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    # trap: a part of it, and the other path
    model.tail.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT)  # likely: PLM052
