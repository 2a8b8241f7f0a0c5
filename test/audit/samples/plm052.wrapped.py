import functools

from peft import LoraConfig, get_peft_model
from peft.tuners import PrefixEncoder, PromptEmbedding, PromptEncoder
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
)


def adapt(model, kind, layers):
    if kind == "peft":
        return get_peft_model(model, LoraConfig(r=8))
    for name, p in model.named_parameters():
        p.requires_grad = False
        if any(part in name for part in layers):
            p.requires_grad = True
    return model


def wrap(model, check_fn):
    reentrant = functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT)  # expect: PLM052
    # trap: the path that needs no gradients in its inputs
    other = functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT)
    apply_activation_checkpointing(model.decoder, checkpoint_wrapper_fn=other, check_fn=check_fn)
    apply_activation_checkpointing(model, checkpoint_wrapper_fn=reentrant, check_fn=check_fn)


def wrap_by_option(model, args):
    impl = CheckpointImpl.REENTRANT if args.reentrant else CheckpointImpl.NO_REENTRANT  # likely: PLM052
    return checkpoint_wrapper(model, impl)
